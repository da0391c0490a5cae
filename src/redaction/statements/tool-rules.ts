/** Statements of single tools with a secret in a place of its own: the second part of the table in statement-rules.ts. */
import { blanks, lead, name, type StatementRow, type StatementRule } from './statement-rule.ts';

const options = `(?:${blanks}--?[\\w-]{1,20}){0,3}`;
/** Commands that keep a secret, or ask for one. */
const keeper = String.raw`(?:pass(?:wd|age)?|gopass|secrets?|vault|log-?in|creds?|credentials?|kinit|keyring|keyctl|unlock|luks\w*|keepassxc-cli|secret-tool|wrangler|doppler|stdin|askpass)`;

/** `printf "%s" x | pass insert -e web` */
const intoKeeper: StatementRule = {
  lead: lead(`(?:[ \\t]{1,4}-[ne]{1,2})?${blanks}(?:["']%s(?:\\\\n)?["']${blanks})?`),
  tail: new RegExp(String.raw`["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo |env )?[^\n|;]{0,60}\b${keeper}\b`, 'y'),
  part: /^(?:[\w.-]{1,64}:)?(.+)$/,
  chosen: true,
};
/** `echo -n x > /run/secrets/db_password` */
const intoFile: StatementRule = {
  ...intoKeeper,
  tail: /["']?[ \t]{0,4}>{1,2}[ \t]{0,4}["']?[^\s|;"']{0,120}(?:pass(?:w\w*|phrase|code)?|pwd|secrets?|token|cred\w*|api[_-]?key)[^\s|;/]{0,20}(?=[\s"';|&]|$)/y,
};
/** `--password-command "echo x"` */
const asProgram: StatementRule = {
  lead: lead(blanks),
  before:
    /(?:pass\w*|pw|token|secret|cred\w*)[-_](?:command|cmd|program|helper|eval|from|script)["']?[ =:]{1,3}["']?$/i,
  part: /^([^"']+)/,
};
/** `kinit kim <<< x` */
const hereString: StatementRule = { lead: lead(String.raw`[^\n|;<]{0,80}?<<<[ ]?(?=[^\s$])`), chosen: true };

/** Nothing follows in its line. */
const wholeValue = /[ \t]*(?:\r?\n|\\{1,8}[rn]|["'\x60]|$)/y;
/** `machine h login kim password x`; belowLogin: the same in lines of their own. */
const inNetrc: StatementRule = {
  lead: lead(blanks),
  before:
    /\b(?:machine[ \t]{1,8}[\w.:-]{1,64}|default)[ \t]{1,8}(?:login|user|account)[ \t]{1,8}[^\s"'\\]{1,64}[ \t]{1,8}$/,
};
/** `hibernate.connection.password x`: a blank separates too. */
const ofProperties: StatementRule = {
  lead: lead(blanks),
  before: /(?:^|\n)[a-z][\w-]{1,30}(?:\.[\w-]{1,30}){1,4}\.$/,
  tail: wholeValue,
  typed: true,
};
const ofImap: StatementRule = {
  lead: lead(String.raw`${blanks}\\*"?[\w.@+-]{1,64}\\*"?${blanks}`),
  tail: wholeValue,
  typed: true,
};
const belowLogin: StatementRule = {
  lead: lead(blanks),
  before:
    /(?:^|\n|\\n)[ \t]{0,8}(?:login|account)[ \t]{1,8}[^\s"'\\]{1,48}(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)[ \t]{0,8}$/,
  tail: wholeValue,
};

export const toolRules: StatementRow[] = [
  ['password', inNetrc, belowLogin, ofProperties],
  // IMAP, as it is sent and as clients note it.
  [
    'login',
    { ...ofImap, before: /(?:^|\n|[<>*-] ?|[CS]: )[A-Za-z]{0,4}\d{1,5} $/, capitals: true },
    { ...ofImap, before: /\bimap $/ },
    // Any text in quotes.
    {
      lead: lead(String.raw`${blanks}\\*"?[\w.@+-]{1,64}\\*"?${blanks}(?=\\*"[^"\\\n]{4,128}\\*")`),
      tail: wholeValue,
      before: /(?:^|\n|[<>*-] ?|[CS]: )[A-Za-z]{0,4}\d{1,5} $/,
      capitals: true,
    },
  ],
  // The user and the password that SMTP sends, both in base64.
  [
    'auth',
    {
      lead: lead(`${blanks}LOGIN${blanks}[A-Za-z\\d+/]{4,120}={0,2}${blanks}(?=[A-Za-z\\d+/]{4})`),
      part: /^([A-Za-z\d+/]{4,200}={0,2})$/,
      capitals: true,
    },
  ],
  // `te paso la clave: x`; a `clave` alone is also the key of an entry.
  [
    'clave',
    {
      lead: lead(': (?=[^\\s]{5})'),
      before: /\b(?:paso|mando|envío|envio|dejo|comparto|doy) (?:la|mi|tu|su|esta|nuestra) (?:nueva )?$/i,
      tail: wholeValue,
      typed: true,
    },
  ],
  // `aws ssm put-parameter --type SecureString --value x`, in any order and over several lines.
  [
    'put-parameter',
    {
      lead: lead(
        String.raw`(?=(?:[^\n|;]|\\\n){0,300}SecureString)(?:[^\n|;]|\\\n){0,240}?[ \t]--value[ =](?=[^\s-])`,
      ),
    },
  ],
  // `fill_in 'Password', with: 'x'`
  [
    'fill_in',
    {
      lead: lead(
        String.raw`[ (]["'][^"'\n]{0,40}(?:assword|asscode|assphrase|PIN)[^"'\n]{0,20}["'],[ ]{1,2}:?with:?[ ](?:=>[ ])?(?=["'])`,
      ),
      chosen: true,
    },
  ],
  ['echo printf', intoKeeper, intoFile, asProgram],
  ['kinit su sudo passwd cryptsetup gpg openssl ssh-add docker podman gh', hereString],
  [
    'hydra medusa ncrack crackmapexec nxc netexec evil-winrm smbmap',
    { lead: lead(String.raw`[^\n|;]{0,120}?[ \t]-p[ \t]{1,3}(?=[^\s-])`), chosen: true },
  ],
  ['http https xh', { lead: lead(String.raw`[ \t][^\n|;]{0,80}?(?:-a|--auth)[ =][\w.@-]{1,64}:(?=[^\s/])`) }],
  ['cpin', { lead: lead(String.raw`=\\*"?(?=\d{4,8}(?!\d))`), capitals: true, part: /^(\d+)/, rule: 'pin' }],
  ['ascii-text', { lead: lead(blanks), before: /(?:key|secret|password) $/i }],
  // Of SNMP's agent; `public` is a stand-in.
  ['rocommunity rwcommunity rocommunity6 rwcommunity6', { lead: lead(blanks), rule: 'credential' }],
  ['obscure', { lead: lead(blanks), before: /\brclone $/ }],
  [
    'unlock unlock-keychain',
    {
      lead: lead(`${options}${blanks}(?=[^\\s-])`),
      before: /\b(?:bw|rbw|keychain|security) $/i,
      chosen: true,
    },
  ],
  [
    'send',
    {
      lead: lead(String.raw`${blanks}(?:-{1,2}[a-z]{0,8}[ \t]{1,8})?(?=\\*["'])`),
      before: /(?:assword|assphrase|passcode|\bPIN)[^\n]{0,60}$/i,
      part: /^(.*?)(?:\\{1,4}[rn]){0,2}$/,
      chosen: true,
    },
  ],
  // `CONNECT TO sample USER kim USING x`
  ['using', { lead: lead(blanks), before: /\bUSER [^\s]{1,40} $/i }],
  // The name of a database may follow.
  [
    'sp_addlogin',
    { lead: lead(String.raw`${blanks}N?\\*'[^'\n]{1,128}\\*',[ ]?N?(?=\\*'[^'\n]{4,128}\\*')`) },
  ],
  [
    'sp_addlinkedsrvlogin sp_password sp_addapprole',
    {
      lead: lead(String.raw`[^\n;]{1,160},[ ]?N?(?=\\*'[^'\n]{4,128}\\*'[ ;)]{0,3}(?:\r?\n|["\x60\\]|$))`),
    },
  ],
  ['walletpassphrase encryptwallet importprivkey unlockwallet', { lead: lead(blanks) }],
  ['sv_setsteamaccount', { lead: lead(blanks), rule: 'token' }],
  // Of TSO and of games: `LOGON KIM/x`, `/login x`.
  ['logon', { lead: lead(`${blanks}[A-Z][A-Z\\d]{0,7}/`), capitals: true, part: /^([^/]+)/ }],
  ['login register', { lead: lead(blanks), before: /(?:^|[\s:])\/$/, chosen: true }],
  // `vault kv put secret/app db=x`, by the reference of its commands: whatever the name, the values are what it keeps.
  [
    'put patch',
    {
      lead: lead(
        `(?:${blanks}--?[\\w-]{1,20}(?:=[^\\s]{1,40})?){0,4}${blanks}[\\w./-]{1,160}${blanks}[A-Za-z][\\w.-]{1,79}=(?=[^\\s@-])`,
      ),
      before: /\b(?:vault|bao) kv $/,
      typed: true,
    },
  ],
  // `die PIN von meiner Karte ist 4711`
  [
    'pin',
    {
      lead: lead(
        '(?: (?:von|vom|für|der|des|zur|zum|del?|du|pour|para|di)(?: [^\\s\\d.,;:]{2,16}){1,2})? (?:ist|lautet|war|est|es|è|é) (?=\\d{4,8}(?![\\w-]))',
      ),
      before:
        /(?:^|[\s"'>:])(?:die|der|meine|deine|unsere|neue|mon|ton|notre|le|mi|tu|el|il|mio|tuo|o|meu|seu) $/i,
      rule: 'pin',
    },
  ],
  // OpenVPN's management interface: `password "Auth" "x"`.
  [
    'password',
    { lead: lead(' \\\\{0,8}"[A-Z][\\w -]{1,40}\\\\{0,8}" (?=\\\\{0,8}")'), before: /\bCMD ["']$/ },
  ],
  // `settings put secure wifi_psk x`, `consul kv put app/db/password x`
  [
    'put',
    {
      lead: lead(`${blanks}(?:[\\w.-]{1,60}/){1,8}(?<name>[A-Za-z][\\w.-]{1,79})${blanks}(?=[^\\s=])`),
      before: /\bkv $/,
    },
    { lead: lead(`${blanks}(?:secure|global|system)${blanks}${name}${blanks}`), before: /\bsettings $/ },
  ],
  // Terraform's state: the attribute before what it drew.
  ['bcrypt_hash', { lead: /\\{0,8}":[^{}]{1,600}?\\{0,8}"result\\{0,8}":[ ]?(?=\\{0,8}")/y, rule: 'secret' }],
  // What a pipeline prints of an expression.
  [
    'evaluating',
    {
      lead: /: secrets\.[\w-]{1,60}[ \t]*\r?\n[^\n]{0,60}=> (?=')/y,
      part: /^((?!\*{3}).+)$/,
      rule: 'secret',
    },
  ],
];
