/**
 * Which words start a command or statement with a secret, and what stands between the word and the value: the table that
 * statement-secrets.ts reads. A line has the words, separated by blanks, and their rules.
 */

import { blanks, lead, name, type StatementRow, type StatementRule } from './statement-rule.ts';
import { toolRules } from './tool-rules.ts';

const tab = String.raw`(?:\t|\\{1,8}t)`;
const flags = String.raw`(?:[ \t]{1,8}-{1,2}[A-Za-z][\w-]{0,14}){0,3}`;

/** Of SASL: `AUTH CRAM-MD5`. */
const mechanisms =
  '(?:XOAUTH2?|OAUTHBEARER|(?:CRAM|DIGEST)-MD5|SCRAM-[A-Z\\d-]{3,12}|GSSAPI|EXTERNAL|ANONYMOUS|NTLM)\\b';
const ownLine: StatementRule = { lead: lead(`${blanks}${name}${blanks}(?=[^\\s=])`) };
const inPipe: StatementRule = {
  lead: lead(`(?:[ \\t]{1,4}-[ne]{1,2})?${blanks}`),
  tail: /["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo [^\n|]{0,40}-S\b|[^\n|]{0,120}--?(?:password|pass|token)-stdin|[^\n|]{0,30}chpasswd\b|gh auth login|cryptsetup |passwd\b|(?:docker|podman)[^\n|]{0,40} secret create )/y,
  part: /^(?:[\w.-]{1,64}:)?(.+)$/,
};
const intoEncoder: StatementRule = {
  ...inPipe,
  tail: /["']?[ \t]{0,4}\|[ \t]{0,4}(?:base64|openssl|gpg|age)\b/y,
  chosen: true,
};
const prompt = String.raw`(?:[<>-]|[CS]:|[\w.-]{1,16}[>$#:])`;
/** `op read x`, `pass show x`, `vault kv get -field=password x`: commands that print a secret in the next line. */
const printsSecret =
  /(?<=\b(?:pass|gopass|op|keyring|security|(?:vault|bao)(?: kv)?|kubectl|secretsmanager|versions|secret) [\w-]{1,30})[ ](?=[^\n\\]{0,160}(?:secret|passw|token|\/|-w[a-z]{0,3}\b|field|keyring|->))[^\n\\]{1,200}?(?:\r?\n|\\{1,8}n| -> )(?=\S)/y;
const ofComposer: StatementRule = {
  lead: lead(
    `${flags}${blanks}(?:http-basic\\.[\\w.-]{1,80}${blanks}[\\w.@-]{1,64}|(?:bearer|(?:github|gitlab|bitbucket)-(?:oauth|token))\\.[\\w.-]{1,80})${blanks}`,
  ),
  before: /\bcomposer $/i,
};
/** A PIN is for a thing that is locked, not for a part of a program, and not of a circuit. */
const article = '(?:the|a|an|my|your|our|his|her|their|this|that)\\b';
const locked =
  '(?! (?:\\w{1,16} ){0,3}(?:versions?|builds?|releases?|commits?|tags?|revisions?|branch|package|image|dependency)(?: is|:))(?: \\w{1,16}){1,4}';
const notOfCircuit =
  /(?<!\b(?:gpio|bcm|input|output|data|clock|reset|board|header|analog|digital|connector|signal|sensor|relay|led|cpu|chip|mcu|[rt]x|s[dc][alk]|i2c|spi|uart|pwm|adc|ground|power)[ -])$/i;
const fourth: StatementRule = { lead: lead(`${blanks}[\\w.@-]{1,64}${blanks}`) };

/** By word, in lower case. */
export function buildStatementRules(): Map<string, StatementRule[]> {
  const entries: StatementRow[] = [
    ...toolRules,
    ['env arg', { ...ownLine, capitals: true }],
    ['setx setenv proxy_set_header add_header fastcgi_param uwsgi_param header_up set-header', ownLine],
    [
      'requestheader header',
      { lead: lead(`${blanks}(?:always${blanks})?(?:set|add|append|merge)${blanks}${name}${blanks}`) },
    ],
    [
      'basic_auth basicauth',
      {
        lead: lead(
          `[^\\n{}"']{0,80}\\{[ \\t]{0,4}\\r?\\n[ \\t]{0,16}(?!import[ ])[\\w.@-]{1,64}${blanks}(?=[^\\s{}])`,
        ),
      },
      { lead: lead(`${blanks}[\\w.@-]{1,64}${blanks}(?=[^\\s{}])`), chosen: true },
      { lead: lead(`\\.users[ \\t]{0,4}=[ \\t]{0,4}["']?[\\w.@-]{1,64}:(?=[^\\s])`) },
    ],
    [
      'use',
      {
        lead: lead(`[ \\t][^\\n]{0,100}?/user:[^\\s]{1,64}${blanks}(?=[^\\s/])`),
        before: /\bnet $/i,
        chosen: true,
      },
      {
        lead: lead(`[ \\t][^\\n]{0,80}?\\\\[\\w$.-]{1,40}${blanks}(?=[^\\s/])`),
        before: /\bnet $/i,
        chosen: true,
      },
      {
        lead: lead(`[ \\t][^\\n]{0,80}?\\\\[\\w$.-]{1,40}${blanks}(?=[^\\s/*])`),
        before: /\bnet $/i,
        tail: /[ \t]{1,4}\/user:/iy,
      },
    ],
    [
      'user',
      { lead: lead(`${blanks}[\\w.\\\\$-]{1,40}${blanks}(?=[^\\s/])`), before: /\bnet $/i, chosen: true },
      {
        lead: lead(`${blanks}[\\w.\\\\$-]{1,40}${blanks}(?=[^\\s/*])`),
        before: /\bnet $/i,
        tail: /[ \t]{1,4}\/(?:add|active|domain)/iy,
      },
      { lead: lead(`[ \\t][\\w.-]{1,40}[ \\t](?:on|off)[ \\t][^\\n"']{0,120}?>(?=[^\\s])`) },
      // `try user admin with x`
      { lead: lead('[ ][\\w.@-]{1,40}[ ](?:with|/)[ ](?=[^\\s])'), part: /^(.*?)[.,?]?$/, chosen: true },
    ],
    [
      'ugfzc3dvcmq6',
      { lead: lead(`(?:\\r?\\n|(?:\\\\{1,8}r)?\\\\{1,8}n| )(?:[CS<>*-]{1,3}:? )?(?=[A-Za-z0-9+/]{4})`) },
    ],
    [
      'set',
      {
        lead: lead(`${blanks}(?://[^\\s:]{1,200}:)?_(?:auth|authToken|password)(?:${blanks}|=)`),
        before: /\bconfig $/,
      },
      { lead: lead(`(?:[ \\t]{1,8}-[A-Za-z-]{1,12}){1,3}${blanks}${name}${blanks}`) },
      { lead: lead(`${flags}${blanks}[A-Za-z][\\w-]{1,79}=(?=[^\\s])`), before: /\bsecrets?[ :]$/ },
      {
        lead: lead(`${blanks}${name}${blanks}(?:(?:--body|-b)[ =])?`),
        before: /(?:config(?:ure)?|secret|variable)s?[ :]$/i,
      },
      { lead: lead(`[^\\n|;]{0,160}?[ \\t]--value[ =](?=[^\\s-])`), before: /\bsecret $/ },
    ],
    ['static', { lead: lead(':[\\w.@-]{1,64}:(?=[^\\s])'), before: /password_maps ?= ?$/ }],
    ['config', { lead: lead(`${flags}${blanks}${name}${blanks}`), before: /git $/ }, ofComposer],
    // Commands of pipelines.
    ['add-mask', { lead: lead('::(?=[^\\s])'), before: /::$/, rule: 'secret' }],
    ['issecret', { lead: lead('=true[\\];][^\\]\\s]{0,20}\\]?(?=[^\\s])'), rule: 'secret' }],
    ['mit-magic-cookie-1', { lead: lead(blanks), chosen: true, rule: 'session' }],
    [
      'sip sips',
      { lead: lead(':[\\w.+-]{1,64}:(?=[^\\s@]{3,128}@)'), part: /^([^@]+)@/, rule: 'url-password' },
    ],
    [
      'log sign logging signing',
      {
        lead: lead(
          '[ ]in (?:as|with|w/) [\\w.@-]{1,40}[ ](?:with|using|and|w/)[ ](?:(?:the )?pass\\w* )?(?=[^\\s])',
        ),
        chosen: true,
      },
      // Two words with a slash between them are also two roles, or two providers.
      {
        lead: lead('[ ]in (?:as|with|using) [\\w.@-]{1,40}[ ]?/[ ]?(?=[^\\s/])'),
        part: /^([^/]*[\d!_-][^/]*)$/,
        typed: true,
      },
      { lead: lead('[ ]in (?:as|with|using) [\\w.@+-]{1,60}[ ]?/[ ](?=[^\\s/])'), chosen: true },
    ],
    [
      'secretid',
      { lead: /\\*["']?[ ]{0,2}[=:][ ]{1,20}\\*["']?(?=[0-9a-f]{8}-[0-9a-f]{4}-)/y, rule: 'secret' },
    ],
    ['genkey', { lead: /[ ]?(?:\r?\n|\\{1,8}n)(?=[A-Za-z0-9+/]{43}=)/y, rule: 'private-key' }],
    [
      'untrusted',
      {
        lead: /[ ]comment:[^\n\\]{0,60}secret key(?:\r?\n|\\{1,8}n)(?=[A-Za-z0-9+/]{40})/y,
        rule: 'private-key',
      },
    ],
    [
      'entry',
      {
        lead: /[ ](?=')/y,
        before: /\bDuplicate $/i,
        tail: /' for key '[^'\n]{0,60}(?:token|secret|passw|api_?key|hash)/iy,
        rule: 'table-column',
      },
    ],
    ['root admin administrator', { lead: lead('[ ]?/[ ]?(?=[^\\s/])'), chosen: true, part: /^([^/]+)$/ }],
    // As users of an example they are also folders.
    ['demo guest tester testuser', { lead: lead('[ ]/[ ](?=[^\\s/])'), chosen: true, part: /^([^/]+)$/ }],
    ['define', { lead: lead(`${blanks}${name}${blanks}`), before: /#$/ }],
    [
      'secret password key',
      {
        lead: lead('[ ][05789][ ](?=[^\\s])'),
        before:
          /(?:\busername [^\s]{1,40}(?: [a-z]+(?: \d+)?){0,3} |\benable |(?:tacacs|radius)[^\n]{0,40} |(?:^|\n) {0,4})$/,
      },
    ],
    [
      'pin',
      {
        lead: lead(
          `(?: code| number)?(?:(?:(?: for| (?:of|to)(?= ${article}))${locked})? is| for${locked}:) (?=\\d{4,8}(?![\\w-]))`,
        ),
        before: notOfCircuit,
        rule: 'pin',
      },
      {
        lead: lead('[ ](?=\\d{4,8} to (?:unlock|enter|open|log|sign|access|confirm|pay|verify|activate)\\b)'),
        before: /\b(?:use|enter|type|dial)(?: the| your| my)? $/i,
        rule: 'pin',
      },
      { lead: lead('[ ](?=\\d{4,8} for (?:the|your|my|our)\\b)'), capitals: true, rule: 'pin' },
    ],
    [
      'otp totp tan',
      {
        lead: lead('(?: for(?: [\\w+().@-]{1,40}){1,5}?)? is (?=\\d{4,8}(?![\\w-]))'),
        rule: 'one-time-code',
      },
    ],
    [
      'ssn security',
      {
        lead: lead('(?: (?:number|no\\.?|#))?(?: is| was|:)? (?=\\d{3}-\\d\\d-\\d{4}(?![\\w-]))'),
        rule: 'national-id',
      },
    ],
    [
      'logged',
      {
        lead: lead('[ ]in (?:with|as|using) [\\w.@-]{1,40}[/:](?=[^\\s/])'),
        chosen: true,
        part: /^([^/]+)$/,
      },
    ],
    ['snmpwalk snmpget snmpset snmptrap', { lead: lead(`[^\\n|;]{0,80}?[ \\t]-c[ \\t]{1,3}(?=[^\\s-])`) }],
    ['community', { lead: lead(blanks), before: /snmp-server $/i }],
    [
      'key',
      {
        lead: lead(`${blanks}(?=[^\\s\\d])`),
        before: /\b(?:tacacs|radius)[\w-]{0,12} (?:[\w.]{1,30} ){0,3}$/i,
      },
    ],
    ['unseal', { lead: lead('[ ]Key[ ]\\d{1,2}[ ]?:[ ]'), chosen: true }],
    ['requirepass masterauth insecure-password auth_pass bindpw rootpw', { lead: lead(blanks) }],
    // A password's hash in a directory: `{SSHA}x`.
    [
      'sha ssha ssha256 ssha512 smd5',
      { lead: lead('\\}(?=[A-Za-z0-9+/]{20})'), before: /\{$/, rule: 'password-hash' },
    ],
    [
      'secret_id',
      { lead: /(?:\\*["']?[ ]?[=:][ ]?\\*["']?|[ \t]{1,40})(?=[0-9a-f]{8}-[0-9a-f]{4}-)/y, rule: 'secret' },
    ],
    ['convertto-securestring', { lead: lead(`${blanks}(?:-String${blanks})?(?=["'])`) }],
    [
      'variable',
      {
        lead: lead(`${blanks}${name} (?:to|as) (?=[^\\s])`),
        before: /\b(?:set|setting|sets|exporting) (?:the )?(?:environment|env) $/i,
      },
      { lead: lead(`${blanks}${name}[ \\t]{0,8}\\{[^{}]{0,400}?\\bdefault[ \\t]{0,20}=[ \\t]{0,8}`) },
    ],
    [
      'auth',
      { lead: lead(`${blanks}(?!${mechanisms})`), capitals: true, chosen: true },
      { ...fourth, capitals: true, chosen: true },
      { lead: /\\*"[ ](?:\\*"[\w-]{1,40}\\*"[ ])?(?=\\*"[^"\\\n]{4,200}\\*"(?:\s|$))/y, capitals: true },
      {
        lead: /\\*["'\x60], with args beginning with: (?:\\*["'\x60][^"'\x60\n]{1,64}["'\x60],? )?(?=\\*["'\x60])/y,
        capitals: true,
      },
      // What a client of Redis notes of its commands.
      { lead: /\(\[ ?(?:\\*["'][^"'\n]{1,64}["'], ?)?(?=\\*["'])/y, before: /(?:-> |\bcommand:? )$/ },
      {
        lead: /\\*"(?:,"args\\*":\[|[ ,])[ ]?(?:\\*"[\w-]{1,40}\\*"[ ,] ?)?(?=\\*")/y,
        capitals: true,
        chosen: true,
      },
    ],
    ['plain', { lead: lead(blanks), before: /AUTH $/i, capitals: true, chosen: true }],
    [
      'pass',
      { lead: lead('[ ]is[ ][\\w.@-]{1,60}[ ]?/[ ]?(?=[^\\s/])'), before: /\/$/, chosen: true },
      { lead: lead(':'), before: /-pass(?:in|out|word)?[ =]$/ },
      {
        lead: lead(`${blanks}(?=["'\x60](?!\\w{1,40}: ))`),
        before: /\buser(?:name)?[ :=]{1,2}["']?[^\s"'\\]{1,64}["']?(?:,| and| with){0,2} $/i,
      },
      {
        lead: lead(blanks),
        before: new RegExp(`USER [^\\s"'\\\\]{1,64}(?:\\s|\\\\+[rn]|[<>]){1,8}${prompt}? ?$`),
      },
      // The server's answer is in the next line.
      {
        lead: lead(blanks),
        before: new RegExp(`(?:^|\\n)${prompt} ?$`),
        tail: new RegExp(`[ \\t]*(?:\\r?\\n|\\\\{1,8}[rn])+${prompt}? ?(?:230|331|\\+OK)`, 'y'),
        capitals: true,
      },
      {
        lead: lead(blanks),
        before: /\b(?:user(?:name)?|login|account|usr) [^\s"'\\]{1,64}(?:[,;]| \/| \|)? $/i,
        chosen: true,
      },
      {
        lead: lead(blanks),
        before: /(?:^|\n|[<>-] ?)$/,
        tail: /[ \t]*(?:\r?\n|\\{1,8}[rn]|$)/y,
        capitals: true,
        part: /^([^/]*[!#$%^&*~+?_][^/]*)$/,
        chosen: true,
      },
    ],
    [
      'pw pwd pass',
      {
        lead: lead(`:${blanks}`),
        // An `id` of nobody is not a user: `suite id 12 pass: partial`.
        before:
          /(?:\b(?:user(?:name)?|login|account|usr)|(?:^|[^a-z\d\s]\s{0,8}|\n|\b(?:user|login|account|member|staff|customer|client|my|your|the|use|with) )id)[ :=]{1,2}[^\s"'\\]{1,64}[,;]? $/i,
        typed: true,
      },
    ],
    [
      'login',
      { ...fourth, before: /[\w.]{1,8} $/, capitals: true, chosen: true },
      { lead: lead('=(?=[0-9a-f]{40}(?![0-9a-z]))'), before: /sonar\.$/, rule: 'token' },
      { lead: lead(`(?: is |: ?| )[\\w.@-]{1,60} ?/{1,2} ?(?=[^\\s/])`), chosen: true, part: /^([^/]+)$/ },
      { lead: lead('[ ](?:with|as|using) [\\w.@+-]{1,60}[ ](?:and|with)[ ](?=[^\\s/])'), chosen: true },
    ],
    [
      'htpasswd',
      {
        lead: lead(
          `${blanks}-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}${blanks}[\\w./~-]{1,100}${blanks}[\\w.@-]{1,64}${blanks}(?=[^\\s;|&])`,
        ),
      },
      { lead: lead(`${blanks}-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}${blanks}[\\w.@-]{1,64}${blanks}`) },
    ],
    ['add_user change_password', fourth],
    [
      'echo printf',
      { lead: lead(blanks), before: /(?:pass\w*|token|secret|key[-_]?file)[\w-]{0,20}[ =]<\($/ },
      inPipe,
      intoEncoder,
    ],
    [
      'show read find-generic-password find-internet-password get access get-secret-value',
      { lead: printsSecret, tail: /[ \t]*(?:\r?\n|\\{1,8}[rn]|$)/y, chosen: true },
    ],
    ['cwjap cwjap_cur', { lead: /=\\*"[^"\\\n]{0,64}\\*",(?=\\*")/y }],
    [
      'code',
      { lead: lead('[:=]?[ ](?=\\d{4,8}[ ])'), tail: / \(?(?:valid|expires|gültig)/y, rule: 'one-time-code' },
    ],
    [
      'credentials creds',
      {
        lead: lead('(?:[ ](?:are|is|->|=>|→|-)|:)?[ ][[(]?[\\w.@-]{1,60}[ ]?(?:/{1,2}|:)[ ]?(?=[^\\s/])'),
        chosen: true,
      },
      { lead: lead('(?:[ ](?:are|is)|:)[ ][\\w.@-]{1,60}[ ]/[ ](?=[^\\s/])'), typed: true },
      {
        lead: lead(
          '(?:[ ](?:are|is)|:)?[ ](?:admin|administrator|root|sa|postgres|guest|demo|[\\w.+-]{1,40}@[\\w.-]{1,40})[ ]?[/:][ ]?(?=[^\\s/])',
        ),
        tail: /(?![ ](?:roles?|rights|permissions|access|users?)\b)/y,
        part: /^([^/]+)$/,
        typed: true,
      },
    ],
    ['rp', { lead: lead(blanks), before: /\/$/, chosen: true }],
    ['wpa_passphrase', fourth],
    ['ssh-keygen', { lead: lead(`[^\\n|;]{0,120}?[ \\t]-[NP][ \\t]{1,3}(?=[^\\s-])`) }],
    ['snyk', { lead: lead('[ ]auth[ ](?=[0-9a-f]{8}-)'), rule: 'token' }],
    // The code that a camera reads: `WIFI:T:WPA;S:name;P:x;;`.
    [
      'wifi',
      { lead: lead(':(?:[TSHR]:[^;\\n]{0,64};){1,4}P:(?=[^\\s;])'), part: /^([^;]+)/, capitals: true },
    ],
    ['sqlplus expdp impdp', { lead: lead(`${flags}${blanks}["']?[\\w$#]{1,64}/`), part: /^([^@]+)/ }],
    ['lftp', { lead: lead(`[^\\n|;]{0,80}?[ \\t]-u[ \\t]{1,3}[\\w.@-]{1,64},`) }],
    ['smbclient rpcclient', { lead: lead(`[^\\n|;]{0,160}?[ \\t]-U[ \\t]?["']?[\\w.\\\\/-]{1,64}%`) }],
    ['xfreerdp wfreerdp', { lead: lead(`[^\\n|;]{0,160}?[ \\t]/p:`) }],
    [
      'ldapsearch ldapwhoami ldapadd ldapmodify ldapdelete ldappasswd ldapcompare',
      { lead: lead(`[^\\n|;]{0,160}?[ \\t]-w[ \\t]{0,3}(?=[^\\s-])`) },
    ],
    ['ipmitool', { lead: lead(`[^\\n|;]{0,160}?[ \\t]-P[ \\t]{0,3}(?=[^\\s-])`) }],
    ['7z 7za', { lead: lead(`[^\\n|;]{0,120}?[ \\t]-p(?=[^\\s-])`) }],
    ['acl', { lead: /[ \t]SETUSER[ \t][^\n"']{1,120}?[ \t]>/y, capitals: true }],
    ['crypt', { lead: lead(`\\([ \\t]?(?=\\\\*')`) }],
    [
      'pgp_sym_encrypt pgp_sym_decrypt aes_encrypt aes_decrypt',
      { lead: lead(`\\((?:[^()'"\\n]{1,120}|\\\\*'[^'\\n]{0,200}'),[ \\t]?(?=\\\\*')`) },
    ],
    ['pragma', { lead: lead(`${blanks}(?:hex|re|hexre)?key[ \\t]{0,2}=[ \\t]{0,2}`) }],
    [
      'true false',
      {
        lead: lead(
          `${tab}/[^\\t\\n"']{0,200}?${tab}(?:TRUE|FALSE)${tab}\\d{1,14}${tab}[^\\s"'\\\\]{1,128}${tab}`,
        ),
        rule: 'cookie',
      },
    ],
  ];
  const table = new Map<string, StatementRule[]>();
  for (const [, ...rules] of entries) for (const rule of rules) rule.letterBefore = letterBefore(rule);
  for (const [words, ...rules] of entries)
    for (const word of words.split(' ')) table.set(word, [...(table.get(word) ?? []), ...rules]);
  return table;
}

/**
 * The letter before the blank at the end of `before`, if that is a single word (`/\bnet $/`): a quick test that nearly all
 * text fails.
 */
const letterBefore = ({ before }: StatementRule): number | undefined => {
  const [, letter] = /^[^|]*([a-z]) \$$/i.exec(before?.source ?? '') ?? [];
  return letter?.toLowerCase().charCodeAt(0);
};
