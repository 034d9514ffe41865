"""The verbs, one file each: the only place that joins the stages."""
