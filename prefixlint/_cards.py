"""Index of the rule cards; written by scripts/build_cards.py, do not edit."""

# ruff: noqa
from __future__ import annotations

from typing import Any

PARTS: dict[str, str] = {'cjk_date': '(?:(?:19|20)\\d\\d ?[年년] ?)?\\d{1,2} ?[月월] ?\\d{1,2} ?[日号號일]',
 'cjk_day': '[(（ ]{0,2}(?:(?:星期|周|週|礼拜|禮拜)[一二三四五六日天]|[月火水木金土日]曜日?|[月火水木金土日][)）]|[월화수목금토일]요일)[)）]?',
 'clock': '(?:[01]?\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{1,9})?)?(?: ?[AaPp]\\.?[Mm]\\b\\.?)?',
 'dmy': '(?:0?[1-9]|[12]\\d|3[01])(?:/(?:0?[1-9]|[12]\\d|3[01])/|\\.(?:0?[1-9]|1[0-2])\\.|-(?:0?[1-9]|1[0-2])-)(?:(?:19|20)\\d\\d|\\d\\d)',
 'month': '(?:(?i:january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre|januari|februari|maart|mei|augustus|augusti|stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia|ocak|şubat|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık|maret|agustus|desember|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)|(?i:jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec|okt|dez|mrt|ene|abr|ago|dic|fev|set|out)\\b\\.?)',
 'weekday': '(?:(?i:monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|понедельник|вторник|среда|четверг|пятница|суббота|воскресенье)|\\b(?:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun)\\b\\.?)',
 'ymd': '(?:19|20)\\d\\d(?:-(?:0?[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01]|[1-9])|/(?:0?[1-9]|1[0-2])/(?:0[1-9]|[12]\\d|3[01]|[1-9])|\\.(?:0?[1-9]|1[0-2])\\.(?:0[1-9]|[12]\\d|3[01]|[1-9]))',
 'zone': '(?: ?(?:Z\\b|[+-]\\d\\d:?\\d\\d\\b|(?:UTC|GMT)(?: '
         '?[+-]\\d{1,2}(?::?\\d\\d)?)?\\b|[A-Z]{1,4}[SD]?T\\b|\\((?:UTC|GMT)?[A-Z0-9 :+-]{2,12}\\)))?'}

CARDS: dict[str, dict[str, Any]] = {'commit-hash': {'id': 'commit-hash',
                 'group': 'volatile values',
                 'summary': 'a commit id that moves with the repository',
                 'why': 'The head commit changes whenever someone commits, the agent included, and takes the '
                        'whole prefix behind it along.',
                 'what': 'In one file: a template variable that holds a commit (`{{ git_sha }}`, '
                         '`${GITHUB_SHA}`). A pinned commit is constant and\n'
                         'silent. In a log: hashes that differ at a fork.',
                 'instead': 'State the commit in the user message in which it matters, or let the agent ask '
                            'git.',
                 'message': 'commit {value} changes whenever the repository does',
                 'severity': 'warning',
                 'confidence': 'medium',
                 'fix': 'unsafe',
                 'labels': ['head', 'commit', 'current commit', 'revision', 'git sha', 'build'],
                 'references': ['https://github.com/anthropics/claude-code/issues/78720'],
                 'patterns': [{'regex': '(?i:\\b(?:commits?|sha|git[ '
                                        '_-]?sha|rev(?:ision)?|head|build|image|parent|merge|checkout|deployed|deployment|release)(?:[ '
                                        '_-]?(?:id|hash|sha|ref))?)["\'`*]{0,3}(?: is)? ?[:=@(/-]{0,2} '
                                        '?(?:(?:sha|commit|at|g)[ :-])?["\'`]?([0-9a-f]{7,40})\\b',
                               'needs': ['commit',
                                         'sha',
                                         'rev',
                                         'head',
                                         'build',
                                         'image',
                                         'parent',
                                         'merge',
                                         'checkout',
                                         'deploy',
                                         'release'],
                               'mixed': 'digit',
                               'confidence': 'high'},
                              {'regex': '@([0-9a-f]{7,40})\\b', 'needs': ['@'], 'mixed': 'digit'},
                              {'regex': '-g([0-9a-f]{7,12})\\b',
                               'needs': ['-g'],
                               'mixed': 'digit',
                               'confidence': 'high'},
                              {'regex': '\\b[0-9a-f]{40}\\b', 'mixed': 'digit', 'confidence': 'high'},
                              {'regex': '(?m)^[ *|\\\\/-]{0,8}([0-9a-f]{7,12}) (?:\\([^)\\n]{1,80}\\) '
                                        ')?[A-Za-z]',
                               'mixed': 'alnum'},
                              {'regex': '\\b[0-9a-f]{7,12}\\b', 'mixed': 'alnum', 'confidence': 'low'}]},
 'counter': {'id': 'counter',
             'group': 'volatile values',
             'summary': 'a number that counts requests, turns or what is left',
             'why': '"Step 4 of 25" or "3 messages left" is another text in the next request. At the start '
                    'of the system prompt one digit is enough\n'
                    'to lose everything behind it.',
             'what': 'In one file: a template variable that holds a count of the run (`{{ turn }}`, '
                     '`{iteration}`, `${remaining_tokens}`), or a\n'
                     'literal "Iteration 3 of 25" at the head. In a log: numbers that differ at a fork.',
             'instead': 'Put iteration and budget lines into the newest user message.',
             'message': 'count {value} changes from request to request',
             'severity': 'warning',
             'confidence': 'medium',
             'fix': 'unsafe',
             'labels': ['iteration',
                        'step',
                        'turn',
                        'attempt',
                        'messages left',
                        'tokens left',
                        'remaining',
                        'budget left',
                        'tokens used'],
             'references': ['https://github.com/gobii-ai/gobii-platform/pull/67'],
             'patterns': [{'regex': '(?i:\\b(?:steps?|iterations?|turns?|rounds?|attempts?|retry|retries|try|messages?|msgs?|pages?|requests?|calls?|questions?|tasks?|chunks?|parts?|batch|epoch|generation|visits?|runs?|loops?|cycles?|pass|phase|level|index|idx|count(?:er)?|seq(?:uence)?|budget|credits?|remaining|left|used|tokens?|score|balance|spent|cost|total|quota|progress|usage|unread|online|items?|entries|results?|episode|day|week|line|lines|rows?|id|number|no\\.|nr\\.?)(?:[ '
                                    '_-](?:left|used|remaining|number|count|index|id|so '
                                    'far|no\\.?))?)["\'`*]{0,3} ?(?:[:=#]|is|are)?[*]{0,2} '
                                    '{0,2}["\'`$€£]?(\\d[\\d.,]{0,14}\\d|\\d)'},
                          {'regex': '\\b(\\d{1,9})(?i: of | ?/ ?| out of )\\d{1,9}\\b',
                           'needs': [' of ', '/']},
                          {'regex': '(?i:\\b(\\d[\\d.,]{0,14}) '
                                    '?(?:messages?|tokens?|turns?|steps?|credits?|requests?|calls?|items?|files?|tools?|results?|memories|entries|users?|lines?|changes?|changed|attempts?|retries|retry|tries|percent|points?|unread|open|active|new|more)\\b)'},
                          {'regex': '#(\\d{1,9})\\b', 'needs': ['#']},
                          {'regex': '[$€£] ?(\\d[\\d.,]{0,14}\\d|\\d)',
                           'needs': ['$', '€', '£'],
                           'confidence': 'low'},
                          {'regex': '\\b\\d[\\d.,]{0,14}\\d(?: ?%)?|\\b\\d(?: ?%)?', 'confidence': 'low'}]},
 'cwd-or-env': {'id': 'cwd-or-env',
                'group': 'volatile values',
                'summary': "the work folder, a file listing or the machine's state in shared text",
                'why': 'The folder, its files, free memory or the shell differ between machines and runs, '
                       'and a file listing changes with every file\n'
                       'that the agent writes. Everything behind it is then new.',
                'what': 'In one file: a template variable that holds the folder, the file tree or the '
                        'machine (`{{cwd}}`, `${PWD}`, `{file_tree}`). In a\n'
                        'log: labelled paths, file listings and machine facts that differ at a fork.',
                'instead': 'Drop the listing (the agent has a tool for it) or freeze it per session, and '
                           'place such lines behind the shared text.',
                'message': '{value} differs between machines and runs',
                'severity': 'warning',
                'confidence': 'medium',
                'fix': 'unsafe',
                'labels': ['working directory',
                           'cwd',
                           'platform',
                           'os version',
                           'shell',
                           'free memory',
                           'load average',
                           'directory structure'],
                'references': ['https://github.com/anomalyco/opencode/issues/5224'],
                'patterns': [{'regex': '(?i:\\b(?:cwd|pwd|(?:current |primary |additional )?working '
                                       'dir(?:ectory|ectories)?|current dir(?:ectory)?|workspace(?: root| '
                                       'folder| path| dir(?:ectory)?)?|project '
                                       '(?:root|dir(?:ectory)?|path|folder)|(?:repo|repository)(?: root| '
                                       'path)?|platform|os|os version|operating '
                                       'system|kernel|arch(?:itecture)?|shell|terminal|python(?: '
                                       'version)?|node(?: version)?|free memory|available memory|memory(?: '
                                       'usage| free)?|cpu(?: usage| load)?|cpus|load(?: average)?|disk(?: '
                                       'free| usage| space)?|battery|model(?: name| id)?|locale|git '
                                       'repo|path|home)["\'`*]{0,3}(?: ?[:=]| is)[*]{0,2}) '
                                       '{0,2}["\'`]?([^\\s"\'`<>\\n][^"\'`<>\\n]{0,198}[^\\s"\'`<>\\n,;.:!?]|[^\\s"\'`<>\\n,;.:!?])'},
                             {'regex': '(?m)^(?:[ \\t]{0,40}(?:[│├└─|`+*-]{1,3}[ '
                                       '\\t]{0,4}){0,8})((?:[\\w@.+-]{1,80}/){0,12}[\\w@.+-]{1,80}(?:\\.[A-Za-z0-9]{1,8}|/))(?:[ '
                                       '\\t]{0,4}\\(?\\d{0,9} ?(?:bytes|[KMG]?B|lines)?\\)?)?$'},
                             {'regex': '(?:/[\\w@.+~-]{1,80}){2,20}/?', 'needs': ['/'], 'confidence': 'low'},
                             {'regex': '\\b[A-Za-z]:[\\\\/]{1,2}[^\\s"\'`<>|\\n]{1,200}',
                              'needs': ['\\', ':/'],
                              'confidence': 'low'},
                             {'regex': '\\b\\d{1,6}(?:\\.\\d{1,3})? ?(?:[KMGT]i?B|bytes)\\b',
                              'confidence': 'low'}]},
 'date': {'id': 'date',
          'group': 'volatile values',
          'summary': "today's date in text that is meant to be shared",
          'why': "A date is new once a day. The first request after midnight finds nothing of yesterday's "
                 'prefix, and a conversation that runs\n'
                 'over midnight pays for its whole history once more. That may be worth it; then it should '
                 'be a decision.',
          'what': 'In one file: a date under a label such as "today\'s date" or "current date", or a '
                  "template variable that holds today's date\n"
                  '(`{{date}}`, `strftime_now("%d %b %Y")`; these are only an info). A date that is part of '
                  'the matter (a policy, a release, a\n'
                  'deadline) is constant and silent. In a log: text whose two sides at a fork are dates.',
          'instead': 'State the date in the newest user message, or fix it when the session starts and '
                     'announce the change of day in a message.',
          'message': 'date {value} changes every day',
          'severity': 'warning',
          'confidence': 'medium',
          'fix': 'unsafe',
          'labels': ["today's date",
                     'todays date',
                     'today is',
                     'current date',
                     'date today',
                     'the date is',
                     'current day',
                     'current year',
                     'current month',
                     'current weekday',
                     'day of the week',
                     'today'],
          'references': ['https://github.com/anomalyco/opencode/issues/32622',
                         'https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching'],
          'patterns': [{'regex': '\\b<<ymd>>\\b(?:,? <<weekday>>| \\((?:<<weekday>>)\\))?',
                        'confidence': 'high'},
                       {'regex': '(?:<<weekday>>,? )?\\b\\d{1,2}(?i:st|nd|rd|th|er|º|\\.)?[ -](?i:of |de '
                                 ')?<<month>>,?[ -](?i:de |del )?(?:19|20)\\d\\d\\b',
                        'needs': 'month',
                        'confidence': 'high'},
                       {'regex': '(?:<<weekday>>,? {1,2})?<<month>> {1,2}\\d{1,2}(?i:st|nd|rd|th)?,? '
                                 '(?:19|20)\\d\\d\\b',
                        'needs': 'month',
                        'confidence': 'high'},
                       {'regex': '\\b<<dmy>>\\b'},
                       {'regex': '<<cjk_date>>(?:<<cjk_day>>)?', 'needs': 'cjk', 'confidence': 'high'},
                       {'regex': '<<weekday>>,? {1,2}(?:(?i:the )?\\d{1,2}(?i:st|nd|rd|th|\\.)? (?i:of |de '
                                 ')?<<month>>|<<month>> {1,2}\\d{1,2}\\b(?i:st|nd|rd|th)?)',
                        'needs': 'month'},
                       {'regex': '\\b(?:20[0-4]\\d|19\\d\\d)(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])\\b',
                        'confidence': 'low'},
                       {'regex': '\\b\\d{1,2}(?i:st|nd|rd|th|er|º|\\.)? (?i:of |de )?<<month>>',
                        'needs': 'month',
                        'confidence': 'low'},
                       {'regex': '<<month>> {1,2}\\d{1,2}\\b(?i:st|nd|rd|th)?',
                        'needs': 'month',
                        'confidence': 'low'},
                       {'regex': '<<month>>,? (?i:de )?(?:19|20)\\d\\d\\b',
                        'needs': 'month',
                        'confidence': 'low'},
                       {'regex': '\\b(?:19|20)\\d\\d-(?:0[1-9]|1[0-2])\\b', 'confidence': 'low'},
                       {'regex': '\\b(?:19|20)\\d\\d-?W[0-5]\\d(?:-?[1-7])?\\b', 'confidence': 'low'},
                       {'regex': '<<weekday>>', 'needs': 'weekday', 'confidence': 'low'},
                       {'regex': '(?:星期|周|週|礼拜|禮拜)[一二三四五六日天]|[月火水木金土日]曜日|[월화수목금토일]요일',
                        'needs': 'cjk',
                        'confidence': 'low'},
                       {'regex': '(?i:year|année|jahr|año)\\b(?i: is)?[ :=]{1,3}((?:19|20)\\d\\d)\\b',
                        'confidence': 'low'}]},
 'epoch': {'id': 'epoch',
           'group': 'volatile values',
           'summary': 'a Unix time in text that is meant to be shared',
           'why': 'Seconds or milliseconds since 1970 differ in every request, so nothing behind the number '
                  'is ever read from a prefix cache.',
           'what': 'In one file: a 10-, 13-, 16- or 19-digit number of the present decades under a time '
                   'label (`ts`, `timestamp`, `created`,\n'
                   '`unix time`). In a log: text whose two sides at a fork are such numbers.',
           'instead': 'Drop the number: models read it badly anyway. Carry it in metadata of the request, or '
                      'in the newest user message.',
           'message': 'Unix time {value} changes with every request',
           'severity': 'warning',
           'confidence': 'medium',
           'fix': 'unsafe',
           'labels': ['timestamp',
                      'ts',
                      'unix time',
                      'epoch',
                      'created',
                      'created_at',
                      'time',
                      'now',
                      'generated',
                      'iat'],
           'references': ['https://platform.openai.com/docs/guides/prompt-caching'],
           'patterns': [{'regex': '(?i:\\b(?:time|timestamp|ts|epoch|unix|created|updated|generated|now|date|started|iat|exp|at|since|clock)(?:[_ '
                                  '-]?(?:at|time|ms|ns|us|s|sec|seconds|millis))?)["\']?\\)? ?(?:[:=]|is)? '
                                  '?["\']?(1\\d{9}(?:\\.\\d{1,9}|\\d{3}|\\d{6}|\\d{9})?)\\b',
                         'needs': ['1'],
                         'confidence': 'high'},
                        {'regex': '\\b1[4-9]\\d{8}(?:\\.\\d{1,9}|\\d{3}|\\d{6}|\\d{9})?\\b',
                         'needs': ['1'],
                         'confidence': 'low'}]},
 'git-status': {'id': 'git-status',
                'group': 'volatile values',
                'summary': 'the state of a git work tree in text that is meant to be shared',
                'why': 'Branch, changed files and last commits move while the agent works. Read again for '
                       'each request, they rewrite the prompt that\n'
                       'the cache holds; read once at the start, they are fine.',
                'what': 'In one file: a snapshot of `git status` ("On branch ...", "M src/x.py", "Current '
                        'branch: ...") or a template variable that\n'
                        'holds one. In a log: such lines that differ at a fork.',
                'instead': 'Take the snapshot once per session and never refresh it, or let the agent run '
                           'git when it needs to know.',
                'message': 'git state {value} changes while the agent works',
                'severity': 'warning',
                'confidence': 'medium',
                'fix': 'unsafe',
                'labels': ['current branch',
                           'on branch',
                           'git status',
                           'gitstatus',
                           'recent commits',
                           'changes not staged',
                           'untracked files'],
                'references': ['https://github.com/openclaw/openclaw/issues/140566',
                               'https://git-scm.com/docs/git-status'],
                'patterns': [{'regex': '(?i:\\bgit(?: status)?: [^\\n]{0,80}\\bHEAD )([0-9a-f]{7,40})\\b',
                              'needs': ['git'],
                              'confidence': 'high'},
                             {'regex': '(?i:\\bgit(?: status)?: [^\\n]{0,120}\\b)(\\d{1,6})(?i: (?:files? '
                                       ')?(?:changed|modified|staged|untracked|ahead|behind))',
                              'needs': ['git'],
                              'confidence': 'high'},
                             {'regex': '(?i:\\b(?:on branch|(?:current |git |main |default )branch(?: '
                                       '\\([^)\\n]{1,40}\\))?["\'`*]{0,3} ?(?::|=|is)|git: '
                                       'branch|gitBranch["\']?:))[*]{0,2} '
                                       '{0,2}["\'`]?([A-Za-z0-9][\\w./@-]{0,98}\\w|[A-Za-z0-9])',
                              'needs': ['branch'],
                              'confidence': 'high'},
                             {'regex': '(?m)^[ \\t]{0,4}(?:[MADRCUT]{1,2}|\\?\\?|!!)[ '
                                       '\\t]{1,2}("?[\\w./@+-][^\\n"]{0,199}\\w)"?$'},
                             {'regex': '(?m)^[ \\t]{1,8}((?:modified|new file|deleted|renamed|both '
                                       'modified|typechange): {1,12}[^\\n]{1,200})$',
                              'needs': [': '],
                              'confidence': 'high'},
                             {'regex': '(?i:\\b(?:your branch is (?:ahead|behind|up to '
                                       'date)[^\\n]{0,120}|nothing to commit, working tree clean|changes '
                                       '(?:not staged|to be committed)[^\\n]{0,40}|untracked files))',
                              'needs': ['branch', 'nothing to commit', 'changes', 'untracked'],
                              'confidence': 'high'},
                             {'regex': '(?i:\\b(?:working tree|git tree|repo(?:sitory)?|git '
                                       'status["\'`*]{0,3}) ?(?::|=|is)? ?)(clean|dirty)\\b',
                              'needs': ['clean', 'dirty'],
                              'confidence': 'high'},
                             {'regex': '(?i:\\b(\\d{1,5}) (?:files? changed|uncommitted changes?|modified '
                                       'files?|untracked files?|commits? (?:ahead|behind)))\\b',
                              'needs': ['change', 'file', 'commit'],
                              'confidence': 'high'}]},
 'random-id': {'id': 'random-id',
               'group': 'volatile values',
               'summary': 'an id, nonce or checksum that is new in every request',
               'why': 'A request id or a nonce at the head of a prompt makes every prefix unique: the hit '
                      'rate is zero, and with explicit caching\n'
                      'each request also pays for a cache write that nobody reads.',
               'what': 'In one file: a value with digits under a label of the run (`session_id: 9f2c41d0`, '
                       '`nonce=...`, `req_...`), or a template\n'
                       'variable that holds one (`{{ request_id }}`, `{nonce}`). In a log: a changing token '
                       'that looks random.',
               'instead': "Send ids in the request's metadata or headers. If the prompt must carry one, it "
                          'belongs into the newest user message.',
               'message': 'id {value} is new in every request',
               'severity': 'warning',
               'confidence': 'medium',
               'fix': 'unsafe',
               'labels': ['session id',
                          'session',
                          'request id',
                          'req id',
                          'trace id',
                          'run id',
                          'conversation id',
                          'correlation id',
                          'message id',
                          'thread id',
                          'chat id',
                          'nonce',
                          'checksum',
                          'salt',
                          'token',
                          'etag',
                          'cache buster',
                          'task id',
                          'job id',
                          'span id',
                          'transaction id',
                          'invocation id',
                          'execution id',
                          'batch id'],
               'references': ['https://github.com/anthropics/claude-code/issues/68900',
                              'https://platform.openai.com/docs/guides/prompt-caching'],
               'patterns': [{'regex': '(?i:\\b(?:nonce|checksum|chk|cksum|hash|digest|etag|token|salt|seed|session|request|req|trace|span|run|correlation|message|msg|conversation|thread|chat|channel|job|task|batch|transaction|txn|invocation|execution|order|ticket|case|user|customer|account|device|tenant|event|workflow|instance|build|deployment|cache[ '
                                      '_-]?buster|id)s?(?:[ '
                                      '_-]?(?:id|ref|key|token|no|uuid|hash|nonce|code))?)["\'`*]{0,3} '
                                      '?(?:[:=#]|is)[*]{0,2} '
                                      '{0,3}["\'`]?([A-Za-z_-]{0,24}\\d[A-Za-z0-9_-]{2,80})',
                             'confidence': 'medium',
                             'mixed': 'alnum'},
                            {'regex': '\\b(?:req|request|sess|session|msg|message|run|trace|span|call|toolu|tool|thread|conv|chat|chatcmpl|resp|evt|event|job|task|batch|file|asst|usr|user|cus|org|tx|txn|inv|ord|corr|ctx|wf|op|exec|turn|acct|nonce|tok|gen|step|item|rs|fc|ws)[_-][A-Za-z]{0,24}\\d[A-Za-z0-9]{3,60}\\b',
                             'mixed': 'alnum'},
                            {'regex': '\\b[0-9a-f]{16,128}\\b', 'mixed': 'alnum'},
                            {'regex': '\\b[0-9A-F]{16,128}\\b', 'mixed': 'alnum'},
                            {'regex': '\\b[0-7][0-9A-HJKMNP-TV-Z]{25}\\b', 'mixed': 'alnum'},
                            {'regex': '\\b[A-Za-z0-9_-]{20,120}={0,2}', 'mixed': 'base64'},
                            {'regex': '\\b[A-Za-z0-9+/]{22,1000}={0,2}',
                             'mixed': 'base64',
                             'confidence': 'low'},
                            {'regex': '\\b[0-9a-f]{4,15}\\b', 'mixed': 'alnum', 'confidence': 'low'},
                            {'regex': '\\b[A-Za-z]{0,8}\\d[A-Za-z0-9]{4,18}\\b',
                             'mixed': 'alnum',
                             'confidence': 'low'}]},
 'relative-time-phrase': {'id': 'relative-time-phrase',
                          'group': 'volatile values',
                          'summary': 'an age or a remaining time that grows with the clock',
                          'why': '"Updated 5 minutes ago" is another text one minute later: it is a clock in '
                                 'disguise, and the prefix ends there.',
                          'what': 'In one file: an amount of time with "ago", "left" or "remaining" under a '
                                  'status label ("last updated", "session started",\n'
                                  '"uptime"). In a log: text whose two sides at a fork are such phrases, or '
                                  'a greeting by time of day.',
                          'instead': 'State the fixed moment rather than its distance from now, or put the '
                                     'line into the newest user message.',
                          'message': '{value} is counted from the clock and changes by itself',
                          'severity': 'warning',
                          'confidence': 'medium',
                          'fix': 'unsafe',
                          'labels': ['last updated',
                                     'last synced',
                                     'last seen',
                                     'last activity',
                                     'last login',
                                     'session started',
                                     'uptime',
                                     'modified',
                                     'online since'],
                          'references': ['https://platform.openai.com/docs/guides/prompt-caching'],
                          'patterns': [{'regex': '(?i:\\b(?:\\d{1,6}(?:\\.\\d{1,2})?|an?|one|two|three|four|five|six|seven|eight|nine|ten|a '
                                                 'few|several) '
                                                 '?(?:s|sec|secs|seconds?|m|min|mins|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?)(?:,? '
                                                 '(?:and )?\\d{1,2} '
                                                 '?(?:s|sec|secs|seconds?|m|min|mins|minutes?|h|hrs?|hours?))? '
                                                 '(?:ago|from now|left|remaining|old))\\b',
                                        'needs': ['ago', 'now', 'left', 'remaining', 'old']},
                                       {'regex': '(?i:\\buptime:? {0,2}(?:is )?)(\\d{1,6} '
                                                 '?[a-zA-Z]{1,7}(?:,? \\d{1,2} ?[a-zA-Z]{1,7}){0,3})\\b',
                                        'needs': ['uptime']},
                                       {'regex': '(?i:\\b(?:good (?:morning|afternoon|evening|night)|just '
                                                 'now|moments ago|yesterday|tomorrow|tonight|this '
                                                 '(?:morning|afternoon|evening)))\\b',
                                        'needs': ['good ',
                                                  'just',
                                                  'moments',
                                                  'day',
                                                  'tomorrow',
                                                  'tonight',
                                                  'this '],
                                        'confidence': 'low'},
                                       {'regex': '\\d{1,4} ?(?:秒|分钟|分鐘|小时|小時|天|分|時間|日)(?:前|后|後)',
                                        'needs': 'cjk'}]},
 'temp-path': {'id': 'temp-path',
               'group': 'volatile values',
               'summary': 'a temporary directory in text that is meant to be shared',
               'why': 'Temporary directories get a new random name per run or per machine, so the prefix '
                      'ends where the name begins. Open-weight chat\n'
                      'templates print the tools behind the system text: a path there costs all tool schemas '
                      'too.',
               'what': 'In one file: a template variable that holds a temporary path. In a log: paths below '
                       '`/tmp`, `/var/folders`, `$TMPDIR`,\n'
                       '`AppData\\Local\\Temp` or a pytest or Docker work folder that differ at a fork.',
               'instead': 'Give the run a fixed mount path (`/workspace`), or state the path in the newest '
                          'user message.',
               'message': 'temporary path {value} is new in every run',
               'severity': 'warning',
               'confidence': 'medium',
               'fix': 'unsafe',
               'labels': ['working directory',
                          'cwd',
                          'scratch directory',
                          'temp dir',
                          'sandbox',
                          'workspace'],
               'references': ['https://github.com/can1357/oh-my-pi/issues/7404',
                              'https://docs.python.org/3/library/tempfile.html'],
               'patterns': [{'regex': '(?:/private)?(?:/var)?/tmp/[^\\s"\'`<>(){}\\[\\],;|]{0,250}[^\\s"\'`<>(){}\\[\\],;|.:!?]',
                             'needs': ['/tmp/'],
                             'confidence': 'high'},
                            {'regex': '(?:/private)?/var/folders/[^\\s"\'`<>(){}\\[\\],;|]{0,250}[^\\s"\'`<>(){}\\[\\],;|.:!?]',
                             'needs': ['/var/folders/'],
                             'confidence': 'high'},
                            {'regex': '/(?:dev/shm|run/user|scratch|var/lib/docker/overlay2)/[^\\s"\'`<>(){}\\[\\],;|]{0,250}[^\\s"\'`<>(){}\\[\\],;|.:!?]',
                             'needs': ['/dev/shm/', '/run/user/', '/scratch/', '/overlay2/'],
                             'confidence': 'high'},
                            {'regex': '(?i:[A-Z]:[\\\\/]{1,2}(?:Users[\\\\/]{1,2}[^\\\\/\\n"\']{1,60}[\\\\/]{1,2}AppData[\\\\/]{1,2}Local[\\\\/]{1,2}Temp|Windows[\\\\/]{1,2}Temp|Temp)[\\\\/]{1,2}[^\\s"\'`<>(){}\\[\\],;|]{0,200}[^\\s"\'`<>(){}\\[\\],;|.:!?])',
                             'needs': ['temp'],
                             'confidence': 'high'},
                            {'regex': '\\b(?:tmp|temp|pytest-of-|pytest-|sandbox[-_]|container[-_]|worktree[-_]|run[-_])[a-z0-9_]{0,12}\\d[a-z0-9_]{0,24}\\b',
                             'needs': ['tmp', 'temp', 'pytest', 'sandbox', 'container', 'worktree', 'run'],
                             'confidence': 'low'}]},
 'timestamp': {'id': 'timestamp',
               'group': 'volatile values',
               'summary': 'a clock time in text that is meant to be shared',
               'why': 'A time with minutes or seconds is new in every request, and a prefix cache stops at '
                      'the first token that differs. Everything\n'
                      'behind the clock is computed and paid again: with a clock on line 2 of a system '
                      'prompt nothing is ever reused.',
               'what': 'In one file: a time under a label such as "current time" or "generated at", a '
                       'template variable that holds the clock\n'
                       '(`{{now}}`, `{datetime}`, `strftime_now("%H:%M")`), or a line that is nothing but a '
                       'time. In a log: any text whose two\n'
                       'sides at a fork are times. In source: `datetime.now()` and its like flowing into a '
                       'prompt.',
               'instead': 'Leave the clock out, state the date only, or put it into the newest user message '
                          '(or behind the last cache breakpoint),\n'
                          'where it costs nothing. If the model must know the time, give it a tool that '
                          'returns it.',
               'message': 'clock time {value} changes with every request',
               'severity': 'warning',
               'confidence': 'medium',
               'fix': 'unsafe',
               'labels': ['current time',
                          'current date and time',
                          'current datetime',
                          'date and time',
                          'local time',
                          'server time',
                          'system time',
                          'time now',
                          'the time is',
                          'timestamp',
                          'generated at',
                          'generated on',
                          'created at',
                          'updated at',
                          'last updated',
                          'last synced',
                          'retrieved at',
                          'fetched at',
                          'rendered at',
                          'built at',
                          'exported at',
                          'snapshot at',
                          'as of',
                          'started at',
                          'session start',
                          'request time',
                          'now'],
               'references': ['https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching',
                              'https://manus.im/blog/Context-Engineering-for-AI-Agents-Lessons-from-Building-Manus',
                              'https://github.com/aaif-goose/goose/pull/2434'],
               'patterns': [{'regex': '\\b<<ymd>>(?:T|[ _,]{1,2}(?:<<weekday>>,? )?(?:at '
                                      ')?)<<clock>><<zone>>',
                             'confidence': 'high'},
                            {'regex': '\\b(?:19|20)\\d\\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])(?:[T_-](?:[01]\\d|2[0-3])[0-5]\\d(?:[0-5]\\d)?|(?:[01]\\d|2[0-3])[0-5]\\d[0-5]\\d)(?:\\.\\d{1,9})?(?:Z|[+-]\\d{4})?\\b',
                             'confidence': 'high'},
                            {'regex': '(?:<<weekday>>,? )?\\b\\d{1,2}(?i:st|nd|rd|th|er|º|\\.)?[ -](?i:of '
                                      '|de )?<<month>>,?[ -](?i:de |del )?(?:19|20)\\d\\d,?(?: (?i:at|um|à|a '
                                      'las|às|alle|om|kl\\.?|-|–))? {1,2}<<clock>><<zone>>',
                             'needs': 'month',
                             'confidence': 'high'},
                            {'regex': '(?:<<weekday>>,? {1,2})?<<month>> {1,2}\\d{1,2}(?i:st|nd|rd|th)?,?(?: '
                                      '(?:19|20)\\d\\d)?,?(?: (?i:at|-|–|\\|))? {1,2}<<clock>><<zone>>(?: '
                                      '(?:19|20)\\d\\d\\b)?',
                             'needs': 'month',
                             'confidence': 'high'},
                            {'regex': '\\b<<dmy>>,?(?: (?i:at|um|à))? <<clock>><<zone>>',
                             'confidence': 'high'},
                            {'regex': '<<cjk_date>>(?:<<cjk_day>>)? ?(?:上午|下午|凌晨|晚上|午前|午後|오전|오후)? ?\\d{1,2} '
                                      '?(?:[:：]\\d\\d(?:[:：]\\d\\d)?|[時时点點시](?: ?\\d{1,2} ?[分분](?: ?\\d{1,2} '
                                      '?[秒초])?)?)',
                             'needs': 'cjk',
                             'confidence': 'high'},
                            {'regex': '<<weekday>>,?(?: (?i:at|um))? <<clock>><<zone>>', 'needs': 'weekday'},
                            {'regex': '(?:上午|下午|凌晨|晚上|午前|午後|오전|오후) ?\\d{1,2} '
                                      '?(?:[:：]\\d\\d(?:[:：]\\d\\d)?|[時时点點시](?: ?\\d{1,2} ?[分분](?: ?\\d{1,2} '
                                      '?[秒초])?)?)',
                             'needs': 'cjk'},
                            {'regex': '\\b<<clock>><<zone>>', 'confidence': 'low'},
                            {'regex': '\\b\\d{1,2} ?[時时点點시] ?\\d{1,2} ?[分분](?: ?\\d{1,2} ?[秒초])?',
                             'needs': 'cjk',
                             'confidence': 'low'},
                            {'regex': '\\b(?:1[0-2]|0?[1-9]) ?(?:[AaPp][Mm]\\b|[ap]\\.m\\.)(?: '
                                      '[A-Z]{1,4}[SD]?T\\b)?',
                             'confidence': 'low'}]},
 'user-or-host': {'id': 'user-or-host',
                  'group': 'volatile values',
                  'summary': 'a user, device or place in front of text that all users share',
                  'why': 'Text of one user in front of text of all users splits the cache: each user, room '
                         'or machine gets its own copy of the shared\n'
                         'part behind it, written and paid once per user instead of once.',
                  'what': 'In one file: a template variable that holds a user, host or place (`{{ user_name '
                          '}}`, `{hostname}`, `${USER}`) before the bulk\n'
                          'of the text. In a log: labelled names, e-mail and IP addresses and home paths '
                          'that differ at a fork.',
                  'instead': 'Put what is the same for everybody first, and state user, device and place '
                             'behind it or in the first user message.',
                  'message': '{value} differs from user to user, and what follows is then shared by nobody '
                             'else',
                  'severity': 'warning',
                  'confidence': 'medium',
                  'fix': 'unsafe',
                  'labels': ['user name',
                             'user',
                             'hostname',
                             'device',
                             'location',
                             'room',
                             'area',
                             'time zone',
                             'email'],
                  'references': ['https://github.com/home-assistant/core/pull/171821',
                                 'https://platform.openai.com/docs/guides/prompt-caching'],
                  'patterns': [{'regex': '(?i:\\b(?:user|username|user[ _-]?name|full[ _-]?name|display[ '
                                         '_-]?name|first[ _-]?name|last[ '
                                         '_-]?name|nickname|hostname|host|device|location|room|area|zone|city|country|region|time '
                                         '?zone|locale|language|lang|tenant|account|customer|client|company|employee|e-?mail|organi[sz]ation|org|team|role|plan|floor|machine|computer|node|pod|container|ip|ip '
                                         "address|address|phone|job title|department)(?:'s)?(?:[ "
                                         '_-](?:name|id|email|location|address|city|country|language|locale|time '
                                         '?zone))?["\'`*]{0,3}(?: ?[:=]| is(?: named| called)?)[*]{0,2}) '
                                         '{0,2}["\'`]?([^\\s"\'`<>{}\\[\\]()\\n,;.][^"\'`<>{}\\[\\]()\\n,;]{0,58}[^\\s"\'`<>{}\\[\\]()\\n,;.:!?]|[^\\s"\'`<>{}\\[\\]()\\n,;.:!?])'},
                               {'regex': '(?i:\\b(?:you are (?:in|at|on|near)(?: the)? '
                                         '(?:area|room|device|floor|zone|city|location|host|machine)|(?:talking|speaking|chatting) '
                                         '(?:to|with)|on behalf of|assistant (?:of|for)|assisting|welcome(?: '
                                         'back)?,|hello,?|hi,?|dear|logged in as|signed in as|connected '
                                         'to|running on|located in|lives in|based in)) '
                                         '{1,2}["\'`]?([^\\s"\'`<>{}\\[\\]()\\n,;.:!?]{1,40}(?: '
                                         '[A-Z][^\\s"\'`<>{}\\[\\]()\\n,;.:!?]{0,40}){0,3})'},
                               {'regex': '\\b[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\\.[A-Za-z0-9-]{1,63}){1,5}\\b',
                                'needs': ['@'],
                                'confidence': 'high'},
                               {'regex': '(?:/home/|/Users/|[A-Za-z]:[\\\\/]{1,2}Users[\\\\/]{1,2})([A-Za-z0-9][\\w.-]{0,38}\\w|[A-Za-z0-9])',
                                'needs': ['/home/', '/users/', 'users\\'],
                                'confidence': 'high'},
                               {'regex': '\\b(?:\\d{1,3}\\.){3}\\d{1,3}(?::\\d{1,5})?\\b'},
                               {'regex': '\\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\\b',
                                'needs': [':', '-']}]},
 'uuid': {'id': 'uuid',
          'group': 'volatile values',
          'summary': 'a UUID in text that is meant to be shared',
          'why': 'A UUID is made to be new each time. In front of shared text it makes the shared text '
                 'unreadable for a prefix cache.',
          'what': 'In one file: a UUID under a label of the run ("session id", "request id", "trace"), or a '
                  'template variable that holds one\n'
                  '(`{{uuid}}`, `{request_id}`). Example UUIDs in schemas and documentation are silent. In a '
                  'log: a UUID that changes.',
          'instead': "Send ids in the request's metadata. If the model has to repeat the id, put it into the "
                     'user message it belongs to, or bind\n'
                     'it as a tool argument.',
          'message': 'UUID {value} is new in every request',
          'severity': 'warning',
          'confidence': 'medium',
          'fix': 'unsafe',
          'labels': ['session',
                     'session id',
                     'request id',
                     'trace id',
                     'run id',
                     'conversation id',
                     'correlation id',
                     'message id',
                     'thread id',
                     'chat id',
                     'user id',
                     'nonce',
                     'task id',
                     'job id',
                     'span id',
                     'invocation id',
                     'execution id'],
          'references': ['https://github.com/openclaw/openclaw/issues/19014',
                         'https://www.rfc-editor.org/rfc/rfc9562'],
          'patterns': [{'regex': '\\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\\b',
                        'needs': ['-'],
                        'confidence': 'high'}]}}
