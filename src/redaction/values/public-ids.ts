/** Ids that are public: of programs, protocols and contents, as they stand in logs. */

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
export const digest =
  /^(?:(?:md5|sha\d{0,3}|blake2[bs]?|blake3|sha3-\d+|crc32c?)[-:=_])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;
const integrity = /^(?:sha(?:1|256|384|512)|md5)[-:=][A-Za-z0-9+/_-]{20,}={0,2}$/i;
let idKinds: Set<string> | undefined;

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
    chunk emb`.split(/\s+/),
  );
  return (idKinds.has(kind) || kind.endsWith('cmpl')) && /^[\w-]+$/.test(value) && !value.includes('secret');
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
    (length >= 32 && endsHex(value) && digest.test(value)) ||
    (length >= 24 && isTypedAs(value) && integrity.test(value)) ||
    isKnownId(value) ||
    (length >= 27 && numberedId.test(value))
  );
}
