/** Ids that are public: of programs, protocols and contents, as they stand in logs. */

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
export const digest =
  /^(?:(?:md5|sha\d{0,3}|blake2[bs]?|blake3|sha3-\d+|crc32c?)[-:=_])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;
const integrity = /^(?:sha(?:1|256|384|512)|md5)[-:=][A-Za-z0-9+/_-]{20,}={0,2}$/i;
/** An id that is sorted by time, behind the name of its kind: `ins_2GIoQhbUpy0hX7B2cVkuTMinXoD`. Not behind a word for a key. */
const sortedId =
  /^(?!(?:[a-z]k|key|tok|pat|api|live|test|secret|token|auth|pass)_)[a-z]{2,12}_[23][A-Za-z0-9]{26}$/;
/** `gpg: key 0x4F25E3B6A1C2D3E4:` */
const keyId = /^0x(?:[\dA-F]{16}|[\dA-F]{40}):?$/i;
/** `token-efficient-tools-2025-02-19`: words and a day, the name of a feature or a version. */
const datedName = /^[a-z]{2,}(?:-[a-z]{2,}){1,6}-20\d\d-\d\d-\d\d$/;
const underscore = 95;
const hyphen = 45;
let idKinds: Set<string> | undefined;

/** `app-live-<digest>`: issuers that have keys for tests too write so. */
const ofLiveAccount = /[-_]live[-_][\da-f]{32,}$/;

/** `msg_…`, `call-…`: ids of programs and protocols. */
function isKnownId(value: string): boolean {
  let end = 0;
  while (end < 17 && value.charCodeAt(end) > 64 && value.charCodeAt(end) !== 95) end += 1;
  const sign = value.charCodeAt(end);
  if (end === 0 || end > 16 || value.length < end + 7 || (sign !== 45 && sign !== 95)) return false;
  const kind = value.slice(0, end);
  idKinds ??= new Set(
    `msg call toolu srvtoolu chatcmpl cmpl run thread asst file resp req step gen batch ws rs fc item
    conv vs evt cus ch pi pm sub in price prod seti acct txn src tool trace span session sess ses
    tooluse workflow wf exec build mcp org proj user usr task job agent node pod i sg vpc subnet vol ami
    eni rtb igw snap arn ft ftjob card ba sched py ii il si po dp we tr cs inv order ord lead room doc
    event folder space channel chan group grp app db block page note obj acc customer team dep depl
    deploy dpl prj site domain cert log pst link flow plan mem memory skill ctx ref rec row itm art
    chunk emb phc`.split(/\s+/),
  );
  if (!idKinds.has(kind) && !kind.endsWith('cmpl')) return false;
  return /^[\w-]+$/.test(value) && !value.includes('secret') && !ofLiveAccount.test(value);
}

/** `wrkspc_01…`, `depl_01…`: ids of any kind that start with a layout number. */
const numberedId = /^[a-z]{2,12}_01[A-Za-z0-9]{22,24}$/;

/** Cheap tests that nearly all words fail, before a regular expression is tried. */
const endsHex = (value: string): boolean => {
  const last = value.charCodeAt(value.length - 1) | 32;
  return (last > 96 && last < 103) || (last > 47 && last < 58);
};
const isTypedAs = (value: string): boolean => {
  const first = value.charCodeAt(0) | 32;
  return first === 115 || first === 109;
};

/** A public identifier, as used in logs and protocols. */
export function isPublicId(value: string): boolean {
  const { length } = value;
  return (
    (length === 36 && uuid.test(value)) ||
    (length === 26 && ulid.test(value)) ||
    (length < 44 && value.startsWith('0x') && keyId.test(value)) ||
    (length >= 32 && endsHex(value) && digest.test(value)) ||
    (length >= 24 && isTypedAs(value) && integrity.test(value)) ||
    isKnownId(value) ||
    (length >= 27 && numberedId.test(value)) ||
    (value.charCodeAt(length - 28) === underscore && sortedId.test(value)) ||
    (value.charCodeAt(length - 3) === hyphen && datedName.test(value))
  );
}

/** How each kind begins, and how long it is. What is cut short is public too, what is longer has something else behind it. */
const publicStarts: [start: string, longest: number][] = [
  // RSA of 2048, 4096 and 1024 bits
  ['MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A', 392],
  ['MIICIjANBgkqhkiG9w0BAQEFAAOCAg8A', 736],
  ['MIGfMA0GCSqGSIb3DQEBAQUAA4GN', 216],
  // P-256, P-384, Ed25519
  ['MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE', 124],
  ['MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE', 160],
  ['MCowBQYDK2Vw', 60],
];
const isPublicDer = (value: string): boolean =>
  publicStarts.some(([start, longest]) => value.length <= longest && value.startsWith(start)) &&
  /^[\w+/-]+={0,2}$/.test(value);

/**
 * A key that its issuer calls public: DER of RSA, EC and Ed25519, age, PostHog's key of a project. A program gives such keys to
 * everybody, often under the name of a secret one.
 */
export const isPublicKey = (value: string): boolean =>
  value.startsWith('M')
    ? isPublicDer(value)
    : /^(?:age1[02-9ac-hj-np-z]{58}|phc_[A-Za-z0-9]{30,50})$/.test(value);
