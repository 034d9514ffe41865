"""Python's volatile calls, as a table."""

from __future__ import annotations

import re

from prefixlint.code._lang import Lang, table

CALLS = table(
    """
timestamp kind=datetime: datetime.now datetime.utcnow datetime.today timezone.now pendulum.now arrow.now
timestamp kind=datetime: arrow.utcnow Timestamp.now Timestamp.utcnow Timestamp.today
timestamp kind=datetime when=bare: timezone.localtime time.localtime time.gmtime localtime gmtime
timestamp when=bare: time.ctime time.asctime ctime asctime utils.formatdate utils.localtime
timestamp kind=struct when=few: time.strftime strftime
date kind=date: date.today pendulum.today timezone.localdate datetime_date.today
epoch kind=epoch: time.time time.time_ns time.monotonic time.monotonic_ns time.perf_counter
epoch kind=epoch: time.perf_counter_ns time.clock_gettime
uuid kind=uuid: uuid.uuid1 uuid.uuid4 uuid.uuid6 uuid.uuid7 uuid4 uuid1 uuid7 shortuuid.uuid
random-id: ulid.new ulid.ULID nanoid.generate bson.ObjectId ObjectId secrets.token_hex secrets.token_urlsafe
random-id: secrets.token_bytes secrets.randbelow secrets.randbits secrets.choice os.urandom os.getpid
random-id: os.getppid threading.get_ident threading.get_native_id id hash
random-id kind=random: random.random random.randint random.randrange random.choice random.uniform
random-id kind=random: random.getrandbits random.randbytes random.gauss random.triangular
list-order kind=random: random.sample random.choices random.permutation
user-or-host: socket.gethostname socket.getfqdn platform.node getpass.getuser os.getlogin os.getuid
user-or-host: pwd.getpwuid os.uname platform.uname Path.home
user-or-host low: platform.platform platform.version platform.release
cwd-or-env: os.getcwd os.getcwdb Path.cwd cwd
temp-path: tempfile.mkdtemp tempfile.mkstemp tempfile.mktemp tempfile.gettempdir tempfile.NamedTemporaryFile
temp-path: tempfile.TemporaryDirectory tempfile.TemporaryFile mkdtemp mkstemp gettempdir
list-order kind=listing: os.listdir os.scandir os.walk glob.glob glob.iglob listdir scandir .iterdir .rglob
list-order kind=listing: asyncio.as_completed futures.as_completed as_completed .imap_unordered
list-order kind=listing medium: .glob
number-format medium: locale.currency locale.format_string locale.format
git-status: git.status git.diff repo.active_branch
"""
)
MEMBERS = table(
    """
git-status: repo.active_branch repo.untracked_files
commit-hash: head.commit.hexsha commit.hexsha head.object.hexsha
cwd-or-env kind=environ: os.environ
"""
)
LANG = Lang(
    name="python",
    comment="#",
    calls=CALLS,
    members=MEMBERS,
    unordered_types=re.compile(
        r"^(?:typing\.|t\.|collections\.abc\.)?(?:Mutable|Abstract)?(?:[Ss]et|[Ff]rozen[Ss]et)\b"
    ),
    unordered_calls=frozenset({"set", "frozenset"}),
    json_calls=frozenset(
        {"json.dumps", "orjson.dumps", "ujson.dumps", "simplejson.dumps", "yaml.dump", "yaml.safe_dump"}
    ),
    json_safe=re.compile(r"sort_keys=True|OPT_SORT_KEYS"),
)
