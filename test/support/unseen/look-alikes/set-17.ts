/** Texts that only look like the secrets of the seventeenth set, and must be kept. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of other languages

export const besideLogs = [
  '2026-03-04T10:12:44.120Z INFO  [auth] refreshed token for svc-billing in 120 ms',
  'Mar  4 10:12:44 web1 sshd[812]: Accepted publickey for deploy from 10.0.0.9 port 50122 ssh2: ED25519 SHA256:%b43',
  'level=info trace_id=%h32 span_id=%h16 msg="token validated"',
  '{"level":30,"reqId":"%U","msg":"password reset requested","userId":4711}',
  'INFO build %h40 deployed to eu-west-1 as crm-7d9f8b6c5-x2x4z',
  'order 20260304-%d8 paid, receipt R-%d6',
  'prompt_tokens=1204 completion_tokens=88 total_tokens=1292 max_tokens=4096',
  'Failed password for root from 10.0.0.9 port 50122 ssh2',
  'session opened for user deploy by (uid=0)',
  '"GET /reset-password?step=2 HTTP/1.1" 200 512',
  'ETag: "%h32"',
  'x-request-id: %U',
  'Digest: sha-256=%b43=',
  'api key not found in cache, asking the vault',
];

export const besideSettings = [
  'password: ${DB_PASSWORD}',
  'password = env("DB_PASSWORD", "")',
  'passwordPolicy:\n  minLength: 12\n  requireDigits: true',
  'secretName: crm-tls',
  'tokenEndpoint: https://idp.corp.io/oauth/token',
  'auth: none',
  'key: user.name.label',
  'public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI%A40 kim@laptop"',
  'integrity sha512-%b86==',
  'resolved "https://registry.yarnpkg.com/ms/-/ms-2.1.3.tgz#%h40"',
  'image: ghcr.io/corp/crm@sha256:%h64',
  'ssid="Lager 3"\nkey_mgmt=WPA-PSK',
  'PublicKey = %b42E=',
  'passwordFile: /run/secrets/db',
  'token_type: bearer\nexpires_in: 3600',
  'sasl_mechanism = SCRAM-SHA-512',
];

export const besideSources = [
  'const $ZodJWT = /*@__PURE__*/ core.$constructor("$ZodJWT", (inst, def) => {',
  'options.apiKey ||= process.env.API_KEY;',
  'const token = opts.token || getToken();',
  'if (password === confirmPassword) return next();',
  'type Secret = string | Buffer | KeyObject;',
  'export const TOKEN_TYPES = ["Identifier", "Punctuator"] as const;',
  'const passwordInput = document.querySelector("#password");',
  'throw new Error("password must be at least 8 characters");',
  'label: "Forgot your password?"',
  'function authenticate({ username, password, token = null }) {}',
  'export const AUTH_KEY = Symbol("auth");',
  'assert.equal(typeof secret, "string");',
  'password: z.string().min(8),',
  '@Input() passwordVisible = false;',
  'const KEY_CODES = { Enter: 13, Escape: 27 };',
  'let key = keys[i].toLowerCase();',
  'token = self._advance_any()',
  'private readonly tokenService: TokenService,',
  'cookieName: "connect.sid"',
  'return jwt.verify(token, publicKey, { algorithms: ["RS256"] });',
];

export const besideClusters = [
  '          valueFrom:\n            secretKeyRef:\n              name: db\n              key: password',
  'imagePullSecrets:\n- name: regcred',
  'kubectl create secret generic db --from-env-file=.env',
  'uid: %U\nresourceVersion: "%d8"',
  '"lineage": "%U", "serial": 12',
  '  client_secret = data.vault_generic_secret.idp.data["secret"]',
  'docker run -d -e MYSQL_RANDOM_ROOT_PASSWORD=yes mysql:8',
  'docker login -u "$CI_REGISTRY_USER" -p "$CI_REGISTRY_PASSWORD" $CI_REGISTRY',
  'Digest: sha256:%h64\nStatus: Downloaded newer image for mysql:8',
  'mysql -h db -u root -p crm < dump.sql',
  'Error: secret "db-credentials" not found',
];

export const besideTraffic = [
  '{"name":"cache-control","value":"public, max-age=31536000, immutable"}',
  '{"name":"x-amz-request-id","value":"%X16"}',
  'Authorization: Bearer <token>',
  'WWW-Authenticate: Bearer realm="corp", error="invalid_token"',
  "content-security-policy: script-src 'nonce-%b22=='",
  'https://cdn.corp.io/assets/index-%A8.js',
  'sec-websocket-accept: %b27=',
  'https://www.youtube.com/watch?v=%w11',
  'grant_type=refresh_token&refresh_token=***',
  'access-control-allow-headers: authorization, x-api-key, content-type',
];

export const besideTalk = [
  'Das Kennwort muss mindestens zwölf Zeichen haben.',
  'j’ai oublié mon mot de passe, tu peux le réinitialiser ?',
  'la contraseña no es válida, inténtalo de nuevo',
  'Пароль не подходит, попробуйте ещё раз',
  '密码错误，请重试',
  'パスワードを忘れた場合はこちら',
  'my order number is 5%d2-%d7-%d7, where is it?',
  'call me at +1 415 555 0132 about the secret santa',
  'the key takeaway is that the token budget is too small',
  'what is the password for the staging database?',
  'I rotated the key yesterday, all is fine now',
  'Commit %h40 broke the login page',
  'esqueci a senha do servidor',
  'wachtwoord vergeten?',
];
