/** Texts that accompany the seventh set and must be kept. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of other languages

export const uuid = ['request_id=%U', '{"id":"%U"}', 'job %U done in 4ms', '/runs/%U/steps/%U'];

export const gitsha = [
  'commit %h40',
  'HEAD is now at %h7 fix it',
  '"gitHead": "%h40"',
  'https://github.com/a/b/commit/%h40',
];

export const checksum = ['%h64  node-v20.tar.gz', 'sha256:%h64', 'MD5 (a.iso) = %h32', '"shasum": "%h40"'];

export const integrity = ['"integrity": "sha512-%b88"', '<script integrity="sha384-%b64" src="a.js">'];

export const dataurl = ['<img src="data:image/png;base64,iVBORw0KGgo%b80">'];

export const ulid = ['{"event_id":"01J%X23"}'];

export const otherid = [
  'cus_%A14',
  '"thread_id":"thread_%A24"',
  '"id":"chatcmpl-%A29"',
  '"id":"msg_01%A22"',
  'toolu_01%A22 call_%A24',
  '"resp_%h48"',
  'pi_3%A23 succeeded',
  'arn:aws:iam::%d12:role/app-role',
  'vpc-%h17 subnet-%h17',
  'ObjectId("%h24")',
  'run_%A24 step_%A24',
  'nanoid %w21',
];

export const version = [
  '"typescript": "^5.0.2"',
  'v20.11.1-nightly20240101%h10',
  'node@2.2.1+sha.%h8',
  '1.2.3-rc.3',
  'chrome/120.0.6099.4',
  '"typescript": "^5.5.2"',
  'v20.11.6-nightly20240101%h10',
  'node@7.2.1+sha.%h8',
  '1.2.3-rc.8',
  'chrome/120.0.6099.9',
];

export const path = [
  '/usr/lib/node_modules/npm/node_modules/@npmcli/arborist/lib/arborist/build-ideal-tree.js',
  '/app/.next/static/chunks/pages/_app-%h16.js',
  'C:\\Users\\Public\\Documents\\passwords.txt.bak',
  'dist/assets/index-%A8.js',
  '/nix/store/%A32-nodejs-20.11.0/bin/node',
  'node_modules/.pnpm/@babel+core@7.23.5_%a26/node_modules/x',
  'src/auth/password-reset/token-service.ts:44:19',
  '/var/run/secrets/kubernetes.io/serviceaccount/token',
  '/proc/self/task/1234/syscall',
  'webpack-internal:///./src/components/SecretSanta.tsx',
  'node_modules/.pnpm/@babel+core@7.23.15_%a26/node_modules/x',
];

export const code = [
  'function validatePassword(password) { return password.length >= 8 }',
  'const password = req.body.password;',
  'if (!token) throw new Error("token missing")',
  'type Secret = { apiKey: string; token?: string }',
  'password: z.string().min(8).max(64),',
  'const getToken = async (userId) => db.tokens.findOne({ userId })',
  'api_key = os.environ["OPENAI_API_KEY"]',
  'const secret = await vault.read("secret/data/app")',
  'headers: { Authorization: `Bearer ${token}` }',
  'self.password = password',
  'assert(user.passwordResetToken === undefined)',
  'SELECT id, password_hash FROM users WHERE email = $1',
  '@Column() passwordHash: string;',
  'token = tokens[i++]',
  '<input type="password" name="password" autocomplete="current-password">',
];

export const prose = [
  'The token expired, please log in again.',
  'Forgot your password? Click here to reset it.',
  'max_tokens=4096 temperature=0.2',
  'usage: {"prompt_tokens": 1204, "completion_tokens": 88, "total_tokens": 1292}',
  'Unexpected token < in JSON at position 0',
  'password is required',
  'The secret to good soup is patience.',
  'keyboard layout: us-intl',
  'Error: Invalid API key provided',
  'authentication failed for user "app"',
  'Your key takeaways: ship small, ship often',
  'token bucket refilled at 100/s',
];

export const placeholder = [
  'OPENAI_API_KEY=YOUR_API_KEY',
  'export TOKEN=<your-token>',
  'api_key: "sk-..."',
  'password: ********',
  'password=changeme',
  'DATABASE_URL=postgres://user:password@localhost:5432/db',
  'token: ${{ secrets.GITHUB_TOKEN }}',
  'apiKey: process.env.API_KEY',
  '"password": "[REDACTED]"',
  'secret: null',
  'API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx',
  'token = "{{ token }}"',
];

export const css = [
  '.a{background:#%h6;color:#%h8}',
  '.css-%a7-MuiButton-root{padding:6px 16px}',
  'grid-template-columns:repeat(auto-fill,minmax(12rem,1fr))',
  '.sc-%A6 .%A6{display:flex}',
  '--token-color-primary: hsl(210 40% 98%);',
];

export const minjs = [
  '!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?t(exports):t((e=e||self).R={})}(this,function(e){"use strict";var t=60103})',
  'var a=e.token,b=t.key;for(let i=0;i<n;i++)r[i]=a^b;return{key:r,pass:!0}',
  '(self.webpackChunk_N_E=self.webpackChunk_N_E||[]).push([[%d3],{%d4:function(e,t,n){Promise.resolve().then(n.bind(n,%d4))}}]);',
  'Object.defineProperty(t,"__esModule",{value:!0}),t.createTokenizer=void 0',
];

export const stack = [
  '    at Module._compile (node:internal/modules/cjs/loader:1376:14)',
  '    at async PasswordService.verify (file:///app/dist/password.js:12:1)',
  "TypeError: Cannot read properties of undefined (reading 'token')",
  '    at processTicksAndRejections (node:internal/process/task_queues:95:5)',
  '    at Object.<anonymous> (/app/node_modules/jsonwebtoken/verify.js:75:12)',
  '    at TokenStore.get [as getToken] (/srv/x.ts:4:5)',
  '    at C (https://cdn.x.io/app.%h20.js:2:%d5)',
  '0x%h12 _ZN2v88internal7Isolate5ThrowE+7 (node)',
  '    at async PasswordService.verify (file:///app/dist/password.js:12:9)',
  '0x%h12 _ZN2v88internal7Isolate5ThrowE+15 (node)',
];

export const pubkey = [
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI%b44 bob@host',
  '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE%b64\n%b20\n-----END PUBLIC KEY-----',
  'age1%a58',
  'pk_live_%A24 is the publishable key',
  'SHA256:%b44 root@h (ED25519)',
];

export const cert = ['-----BEGIN CERTIFICATE-----\nMIID%b60\n%b64\n-----END CERTIFICATE-----'];

export const fingerprint = [
  'Fingerprint: %H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2:%H2',
  'fingerprint=%h40',
];

export const hash = [
  'etag: W/"%h8-%A27"',
  'ETag: "%h32"',
  'contentHash: %h20',
  'chunk.%h8.css',
  'cache key: build-%h64',
];

export const trace = [
  'traceparent: 00-%h32-%h16-01',
  'trace_id=%h32 span_id=%h16',
  'X-Request-Id: %h32',
  'x-amzn-trace-id: Root=1-%h8-%h24',
  'cf-ray: %h16-FRA',
  '"spanId":"%h16"',
];

export const cursor = [
  '{"next_cursor":"%b24"}',
  '?pageToken=2&pageSize=50',
  '"endCursor":"Y3Vyc29yOnYyOpHO%b8"',
  '{"nextPage":"eyJvZmZzZXQiOjEwMH0="}',
];

export const docker = [
  'FROM node:20@sha256:%h64',
  '%h12   nginx   "/docker-entrypoint.…"   2 hours ago',
  'Digest: sha256:%h64',
  '"Id":"%h64","Names":["/web"]',
];

export const docs = [
  'See https://docs.x.io/api-keys#create-a-token for details',
  '--token <token>   API token (default: $TOKEN)',
  'Usage: login [--password PASSWORD] [--user USER]',
  'AWS_SECRET_ACCESS_KEY   your secret key (required)',
  '1. Go to Settings > API keys  2. Click "Create key"',
];
