/** Texts that accompany the eighth set and must be kept. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of other languages

export const ids = [
  '{"user_id":"usr_%A24"}',
  'org-%A24',
  'file-%A22',
  'asst_%A24 is running',
  'evt_1%A23',
  'req_01%A22',
  'batch_%h32',
  'prj_%A28',
  'dpl_%A28 READY',
  'sess_id %U',
  'ksuid %A27',
  'i-%h17 running',
];

export const hash = [
  'sha1 %h40',
  '"hash":"%h64"',
  '%h32  ./a.txt',
  'h1:%b44',
  '"sha512-%b88"',
  'blob %h40	12',
  'index %h7..%h7 100644',
  'crc32=%h8 size=1234',
  'bafybei%a52',
  'Merge %h40 into %h40',
  'BuildID[sha1]=%h40',
  'go.sum: golang.org/x/net v0.17.0 h1:%b44',
];

export const code = [
  'const { token, user } = await login(email, password)',
  'password = getpass.getpass("Password: ")',
  'headers = {"Authorization": f"Bearer {token}"}',
  'this.apiKey = options.apiKey ?? process.env.X_KEY;',
  'process.env.SECRET_KEY!',
  'def check_password(self, raw_password: str) -> bool:',
  'password: Joi.string().required(),',
  "expect(screen.getByLabelText('Password')).toBeVisible()",
  'token: Token; next: () => void',
  'if password != confirm_password:',
  'SELECT token FROM sessions WHERE user_id = ?',
  'INSERT INTO users (email, password) VALUES ($1, $2)',
  'password VARCHAR(255) NOT NULL,',
  'api_key = config.get("api_key")',
  'resource "random_password" "db" { length = 16 }',
  'secretKeyRef: { name: db, key: password }',
  "const key = event.key === 'Enter'",
  'export PASSWORD_MIN_LENGTH=8',
];

export const prose = [
  'Please enter the password you chose at sign-up.',
  'The API key is invalid or has been revoked.',
  'Your password must contain at least 8 characters.',
  'I need a token to continue; where can I find it?',
  'Token limit exceeded: 128000',
  'auth: success in 14ms',
  'secret rotation finished for 14 services',
  'key: Enter pressed',
  'passed: 14, failed: 0',
  'The password is wrong.',
  'token usage: input=144 output=20',
  'session: expired',
  'cookie: none',
  'Password: [hidden]',
  'credentials: include',
];

export const placeholder = [
  '--api-key $API_KEY',
  'password: "{{ vault_password }}"',
  'TOKEN=${TOKEN:-}',
  'api_key="<API_KEY>"',
  '"apiKey": "your-api-key-here"',
  'SECRET=...',
  'key: sk-ant-...',
  'password: "***"',
  'AKIAIOSFODNN7EXAMPLE',
  'postgres://USER:PASS@HOST/DB',
  'Authorization: Bearer <token>',
  'secret: !vault |',
];

export const web = [
  '<link href="/assets/app.%h8.css" rel="stylesheet">',
  '.eyJ_card{margin:0}',
  'data-testid="password-input"',
  'class="css-%a8 e%a80"',
  '_next/static/%w21/_buildManifest.js',
  'url(data:font/woff2;base64,d09GMgABAAAAA%b60)',
  'viewBox="0 0 24 24" d="M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2z"',
  'nonce-%b24',
  'ETag: "%h8-%h4"',
  'G-%X10',
  'UA-%d8-1',
  'GTM-%X7',
];

export const sys = [
  '0x00007f%h10 in __libc_start_main () from /lib/x86_64-linux-gnu/libc.so.6',
  'Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)',
  'MAC 52:54:00:%h2:%h2:%h2',
  'fe80::%h4:%h4:fe%h2:%h4',
  'pid 4411 tid 4412 killed by SIGKILL',
  '/dev/disk/by-uuid/%U',
  'boot_id %U',
  'container %h64',
  'overlay2/%h64/merged',
  'cpuset:/docker/%h64',
  'node:internal/crypto/keys:620:3',
  'rss=123456789 heap=%d9',
  '2026-11-22T14:02:11.123456789Z',
  'cpe:2.3:a:openssl:openssl:3.0.11:*:*:*:*:*:*:*',
  "CN=R3,O=Let's Encrypt,C=US serial %h36",
  '-----BEGIN CERTIFICATE REQUEST-----\n%b64\n-----END CERTIFICATE REQUEST-----',
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ%b120 a@b',
  'TLS_AES_256_GCM_SHA384 X25519 ECDSA',
  'kid: %w22',
];
