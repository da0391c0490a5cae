/**
 * Distinguishes a password that reads like a word from a description of a password in a sentence, a table or a schema: `the
 * password is sunflower` from `the password is wrong`. Only for places that announce a value. English only, like most logs.
 */

const text = `about above absent accepted access account active added admin administrator after again ago alias alike all allowed
  alone already also always among and any anything apart argon argon2 argon2id array ascii ask asked asks at auth auto available away bad bare
  based bcrypt because been before being below better between blank blob bool boolean both brief broken but button bytes cannot card
  case cell change changes char chars check clear clickable close closed code column common complex component confirm
  confirmation context correct could credential credentials date default defaults denied deprecated different digest digits
  disabled does done dots down each easy either else email empty encoded encrypted english enough enter entry equal error errors even
  ever every exact exists expired expires expiry fail failed failing fails false fetch field file fine first five fixed flag float
  focus for form format forth found four free from full further general generic given gone good granted great group guessable
  half hard has hash hashes have header here hidden hint host hours however html ids illegal immutable inactive
  inline input inside instead int integer into invalid issue its itself json just kept key keychain known label last later least
  legal length less letter letters like likely limit line link list literal local locked login long longer longtext lost lower lowercase many
  mask masked match maximum maybe mediumtext memory minimum missing mixed more most much must name nearly needed
  needs neither never new next nobody none nonempty nope normal not nothing now null nullable number numeric numbers object obsolete off often okay
  old once one only open optional other others our out outside over own page param parameter part partial partially pass passed passes password
  passwords pending per perfect phrase plain plaintext please policy poor present previous private prompt property public
  query quite random read ready real really redacted reference refresh regex register rejected required
  reset resets right role root rotated row rule rules safe said salt salted same scrypt secret secrets secure see select sensitive
  sent set several shared short shorter should show shown signin signup simple since single small smallint some
  something soon specified state status still stored str string strings strong stronger submit such sure symbol symbols table
  temporary ten text than that the their them then there these they thing this those three through timeout tinytext title
  to today token tokens too topic toggle true trivial two type typed types unclear under unique unknown unless
  unmasked unsafe unset until unused update upper uppercase url usable use used user username users uses using uuid valid validator value values
  varchar verify very viewer visible want warning was way weak were what when where whether which while who whole
  whom whose why will with within without word words work works worse would write writes wrong yes yet you your yours
  zero api app argument arguments attempt attempts base bits body browser bucket bypass cache caller cause chosen
  client cluster command config configuration connection console container content cookie copy database details
  device directory display domain driver element end endpoint environment event example expression feature fields filter
  fingerprint folder function group guest handler helper icon image index info item keyboard language layer level
  library license location logic manager member message method middleware minutes mode model module month months node note
  notice option options output owner pair panel panic path pattern picker placeholder plugin port position process profile
  project protocol provider proxy reader readonly reason record region release remote request response result rotation schema
  screen script second seconds section seen server service session settings shell sign size source space stdin step steps
  storage store strength style subject success support switch system tag target task team template tenant test thread
  time toast tool tooltip trace tree unit vault version view web week weeks widget window writeonly year years
  shift argv gets getpass readline stdin params kwargs opts ctx req res data value obj val creds conf cfg hashedpassword adios copied expiring unchanged identical mandatory nowhere somewhere elsewhere yesterday tomorrow tonight forever`;

let predicates: Set<string> | undefined;

/** Endings of words that describe something. */
const endings =
  /(?:[^aeiou]ed|[aeiou]{2}[a-z]?ed|[a-z]{3}ied|[a-z]{3}ing|[a-z](?:al|nt|ct|ve|us|ed|ng|te|rt|ck|sh|se|re|le|et)ly|[a-z]{2}able|ible|tive|sive|ful|less|ous|atory|itory|rary|ent|ect|ication|ption|ction|tion|sion|ment|ility|arity|ness|ism|ize|ise|tic|ical|orm|ish)s?$/;

/** One word, or a few joined, optionally with digits, none of which describes a password. Callers check for stand-ins. */
export function isTypedWord(value: string): boolean {
  if (value.length < 5 || value.length > 64) return false;
  if (!/^[A-Za-z][A-Za-z\d]*(?:[-_.](?:[A-Za-z\d]{2,}|\d)){0,4}[!?#*]?$/.test(value)) return false;
  return partsOf(value).every((part) => !isPredicate(part));
}

/** What says that there is no value, or what it is. */
const refuses =
  /^(?:no|not|none|is|are|be|do|don't|must|should|missing|unset|undefined|invalid|required|default|here|your|enter|provided|given|found|environment|variable|secrets?|tokens?|keys?|passwords?|passphrase)$/i;

/**
 * `correct horse battery staple`, where a text may also be a message: two words or more, hardly any of which describe a password.
 * @param most share of the words that may.
 */
export function isPhraseOfWords(value: string, most = 0): boolean {
  if (value.length > 120 || !/^\p{L}[\p{L}\d]*(?: [\p{L}\d]+){1,11}$/u.test(value)) return false;
  const parts = value.toLowerCase().split(' ');
  if (parts.some((part) => refuses.test(part)) || !parts.some((part) => part.length > 3)) return false;
  return parts.filter(isPredicate).length <= most * parts.length;
}

/** Parts of the names of variables that contain a password or lead to one. */
const ofVariables =
  /^(?:pass(?:word|wd|phrase|code)?s?|pwd|pw|secrets?|tokens?|keys?|creds?|credentials?|auth|user(?:name)?|login|admin|input|values?|val|field|param(?:eter)?s?|args?|hash(?:ed)?|str(?:ing)?|text|form|env|config|conf|cfg|options?|opts|settings?|props?|state|data|body|req|request|res|get|set|is|has|on|to|from|of|new|old|current|my|db|get(?:ter)?|fn|cb|obj|raw|plain|encrypted?|decrypt(?:ed)?|validate[sd]?|check|verify|compare|confirm|reset|change|update|type|name|id|input|prompt|reader?|handler|callback|manager|service|provider|store|cache|context|ctx|default|required|missing|invalid)$/;

/**
 * `correctHorse`, `tiger_window`: two or more words, at least one of which is unusual in programs, and none of which
 * describes the content of a variable.
 */
export function isPassphrase(value: string): boolean {
  if (value.length < 8 || value.length > 64) return false;
  if (!/^[A-Za-z][A-Za-z\d]*(?:[-_.][A-Za-z\d]{2,}){0,5}[!?#*]?$/.test(value)) return false;
  return joinsUnusualWords(value);
}

function joinsUnusualWords(value: string): boolean {
  const parts = partsOf(value);
  if (parts.length < 2 || parts.some((part) => part.length < 3 || ofVariables.test(part))) return false;
  return parts.some((part) => part.length > 3 && !isPredicate(part));
}

/**
 * `curlewBay7`, `Zebra!Crossing`: two or more words, one of which is unusual in programs, with a digit behind them or a sign among them.
 * No name is written so.
 */
export function isInvented(written: string): boolean {
  // `Käse!Kuchen3`
  const value = /[^ -~]/.test(written) ? written.normalize('NFD').replace(/\p{M}/gu, '') : written;
  if (value.length < 8 || value.length > 64 || !/[\d!@#$%^&*~+?]/.test(value)) return false;
  if (!/^[A-Za-z]{3,}(?:[-_.!@#$%^&*~+]?[A-Za-z]{2,}){0,4}[-_.!@#$%^&*~+]?\d{0,3}[!?#*$]?$/.test(value))
    return false;
  // `mail.example.com`
  return !/^[a-z]+(?:[.@][a-z]+)+$/i.test(value) && joinsUnusualWords(value);
}

/** `rivers_secret`: an unusual word, and one for a secret. */
export function isNamedSecret(value: string): boolean {
  if (!/^[a-z]{5,20}[-_.](?:secrets?|password|passwd|key)$/i.test(value)) return false;
  const [word = ''] = partsOf(value);
  return !isPredicate(word) && !ofVariables.test(word);
}

const partsOf = (value: string): string[] =>
  value
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part !== '');

function isPredicate(part: string): boolean {
  predicates ??= new Set(text.split(/\s+/));
  return predicates.has(part) || endings.test(part);
}
