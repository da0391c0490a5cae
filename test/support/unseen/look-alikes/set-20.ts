/** Texts that only look like the secrets of the twentieth set, and must be kept. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of other languages

export const besideLogs = [
  'WARN  o.s.b.a.s.UserDetailsService - Global AuthenticationManager configured with bean userDetailsService',
  'DEBUG urllib3: "GET /users/7?fields=name,email HTTP/1.1" 200',
  'level=info msg="admin bootstrap" user=admin took=31ms',
  'sshd[812]: Failed password for kim from 10.0.0.4 port 51234 ssh2',
  'AH01617: user kim: authentication failure for "/": Password Mismatch',
  'E1104 11:02:31.123456 auth.cc:88] bad login kim from 10.0.0.4',
  'request id 7f3c9a21-4b7e-4c1d-9a55-0c2f1b7a9e10 took 31ms',
  'loaded 12 keys from keystore /etc/app/key-store.jks',
  'token bucket refilled: 120 of 500, rate 50/s',
  'worker 3: lease granted for 60s on shard-0007',
];

export const besideDatabases = [
  'CREATE LOGIN kim FROM WINDOWS WITH DEFAULT_DATABASE = app;',
  'mysql: Enter password: \nERROR 1045 (28000): Access denied',
  'SELECT id, name FROM api_clients WHERE client_secret IS NOT NULL LIMIT 50',
  'redis> CONFIG GET maxmemory',
  'ERROR: password must be at least 12 characters',
  'index api_clients_secret_idx has 204812 tuples',
  'neo4j-admin database dump neo4j --to-path=/backup',
];

export const besideTalk = [
  'Das WLAN-Passwort hängt an der Wand neben der Tür.',
  'ich habe mein Kennwort vergessen, Ticket INC0012345',
  'la contraseña no funciona desde ayer a las 16:30',
  'le mot de passe expire le 04/03/2026',
  'la password è sempre la stessa, chiedi a Marco',
  'het wachtwoord staat in de kluis',
  'passordet ditt er utløpt',
  'koodi on valmis, katsele PR 4821',
  'hasło jest nieprawidłowe',
  'heslo je stejné jako loni',
  'пароль спросите у Ивана, он на связи до 18:00',
  'пароль от базы в 1Password, раздел infra-2024',
  '密码在 1Password 里，看 infra-2024',
  'パスワードは Slack の #infra-2024 を見てください',
  '비밀번호는 Confluence 문서 참고하세요 (v2024)',
  'كلمة المرور غير صحيحة، حاول بعد 10 دقائق',
  'wifi şifresi değişti, IT2024 grubuna bak',
  'the password is on the sticky note',
  'the password is somewhere in the vault',
  'the key is in 1Password under aws-prod-2024',
  'your code is fine, merge it after 16:30',
  'the code is in PR #48213, line 1024',
  'use node-v20.11.1 for now, it is the version on staging',
  'my token is expired, renewing',
];

export const besideMessages = [
  'Ihre Bestellung 48291377 ist unterwegs.',
  'Votre code postal est 75011',
  'Su pedido 482913 ha sido enviado',
  'Your ticket number is 482913',
  'Код товара: 482913',
  '【京东】您的订单482913已发货',
  'Your code review 482913 is ready',
  'Call us at 0800 482913',
  'Meeting ID: 934 1234 5678',
];

export const besideFiles = [
  'machine gitlab.corp.io\n  login kim',
  '[client]\nuser=kim\nhost=db',
  'password: ${DB_PASSWORD}\nusername: ${DB_USER}',
  '<server><id>nexus</id><username>ci</username></server>',
  'secret_name: prod/db\nsecret_version: 7',
  'spring:\n  datasource:\n    password: ENC(...)',
  'checksum: sha256:%h64',
  '"integrity": "sha512-%b86=="',
  'key_id: %h16\nkey_type: ed25519',
  'session_timeout: 3600\nsession_name: app2024',
];

export const besideShells = [
  'mysqladmin -u root -p status',
  'vault login -method=oidc role=dev2024',
  'security find-generic-password -a kim -s web',
  'kubectl get secret db -o name',
  'ssh-keygen -t ed25519 -C kim@a.io -f ~/.ssh/id_2024',
  'openssl rand -base64 32',
  'echo $DB_PASSWORD | wc -c',
  'git commit -m "Rotate token handling, fixes #4821"',
  'helm upgrade app ./chart -f values-prod2024.yaml',
  'docker run -p 8080:80 app:2024.03.1',
];

export const besideMachines = [
  'interface GigabitEthernet0/1\n description uplink-core2024',
  'show crypto key mypubkey rsa',
  'camera0: rtsp stream 1920x1080@25 ok',
  'modem: AT+CPIN?\n+CPIN: READY',
  'gpio: led_pin=13 button_pin=27 data_pin=D4',
  'ipmi: user 2 (ADMIN) privilege 4',
];

export const besideBusiness = [
  'Benutzer;E-Mail;Rolle\nkim;k@a.io;Admin2024',
  '| 系统 | 账号 | 状态 |\n|---|---|---|\n| NAS | kim | 正常 |',
  '{"student":"Kim","portal":{"login":"k7","lastLogin":"2026-03-04T11:02:31Z"}}',
  'POS terminal 7: till open, drawer 4829',
  'article code 48291377, batch 2024-11',
  'IBAN DE89370400440532013000, BIC COBADEFFXXX',
];
