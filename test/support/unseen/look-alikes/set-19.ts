/** Texts that only look like the secrets of the nineteenth set, and must be kept. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of other languages

export const besidePipelines = [
  '##[debug]Evaluating: secrets.DEPLOY\n##[debug]=> \'***\'\n##[debug]Result: "***"',
  '+ curl -sSf -u "$NEXUS_USER:$NEXUS_PASS" https://nexus.corp.io/app.tgz -o app.tgz',
  '[Pipeline] withCredentials\nMasking supported pattern matches of $NEXUS_PASS',
  'Step 7/12 : RUN npm ci --omit=dev\n ---> Running in 4f1c9d2b7a31',
  'time="2026-03-04T11:02:31Z" level=debug msg="token renewed" ttl=3600 lease=%U',
  'Run actions/checkout@%h40\n  with:\n    token: ***\n    fetch-depth: 0',
  'Cache restored from key: node-linux-%h64',
  'Uploading artifact build-20260304-1102.zip (sha256 %h64)',
  'Job 7841233901 passed after 00:12:31 on runner linux-x64-large',
  'Error: secret "deploy-key" not found in namespace prod',
  'Waiting for secret store to become ready (attempt 3 of 10)',
  'helm upgrade app ./chart --set image.tag=%h8 --set replicas=3',
];

export const besideStatements = [
  "LOG:  execute <unnamed>: select * from item where sku = $1 and lang = $2\nDETAIL:  parameters: $1 = 'A-2231', $2 = 'de_DE'",
  'LOG:  execute S_1: update login set password_hash = $1, changed = $2 where id = $3',
  'ALTER ROLE reporting PASSWORD NULL;',
  'CREATE TABLE login (id int, password varchar(60) NOT NULL, token_count int);',
  "SELECT count(*) FROM login WHERE password IS NULL AND state = 'active';",
  'ERROR:  password authentication failed for user "kim"\nHINT:  check pg_hba.conf line 84',
  "INSERT INTO audit (action, target) VALUES ('password changed', 'kim@a.io');",
  ' id |  login   |  state  |  mail\n----+----------+---------+---------\n  7 | kim      | active | k@a.io\n(1 row)',
  'CREATE INDEX login_password_reset_at ON login (password_reset_at);',
  '"app" "readonly"\n"stats" "viewer"',
];

export const besideTalk = [
  'Das Kennwort ist abgelaufen, bitte neu setzen',
  'le mot de passe est trop court',
  'la contraseña es obligatoria',
  'a senha expira em 30 dias',
  'het wachtwoord is verlopen',
  'hasło musi mieć co najmniej 12 znaków',
  'пароль неверный, попробуйте ещё раз',
  'şifre yanlış',
  'salasana on vanhentunut',
  'lösenordet är för kort',
  'heslo je povinné',
  'mật khẩu là bắt buộc',
  '密码是必填项',
  'パスワードは8文字以上です',
  '비밀번호는 필수입니다',
  'पासवर्ड गलत है',
  'รหัสผ่านไม่ถูกต้อง',
  'كلمة المرور غير صحيحة',
  'parola este incorectă',
  'the password is correct but the account is locked',
  'the token is expired since 2026-03-04T11:02:31Z',
  'my pin is in the drawer, ask Jan',
  'Kim: which key is used for prod? Jan: key-2024-rotation, see the wiki',
  'I lost my password again, can you reset it by 16:30?',
];

export const besideInfrastructure = [
  '        {\n          "mode": "managed",\n          "type": "random_pet",\n          "name": "db",\n          "instances": [{ "schema_version": 0, "attributes": { "id": "eager-heron", "length": 2, "separator": "-" } }]\n        }',
  'google_sql_user.u: Creating...\n  + name     = "app"\n  ~ password = (sensitive value)',
  'Outputs:\n\nvpc_id = "vpc-0a1b2c3d4e5f60718"\nsubnet_ids = ["subnet-0a1b2c3d4e5f60718"]',
  'kubectl create secret generic db --from-file=pw=./pw.txt -n prod',
  'secret/db created\nconfigmap/app unchanged\ndeployment.apps/app-7d9f8b6c5d configured',
  'module.db.random_password.p: Creation complete after 0s [id=none]',
  'arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbC123',
  'valueFrom:\n  secretKeyRef:\n    name: db-credentials\n    key: password',
  'vault kv get -field=api secret/app',
  'nomad alloc status %h8',
  'administrator_login_password = var.db_password',
  'KMSKeyId: arn:aws:kms:eu-west-1:123456789012:key/%U',
];

export const besidePhones = [
  'D/OkHttp: Authorization: Basic ██\nD/OkHttp: --> END GET',
  'I/flutter (12345): login response {user: kim, status: 200, took: 31ms}',
  'keyAlias=upload\nstoreFile=../up.jks',
  'UUID: %U  SEQUENCE: 12  LEVEL: 3',
  'W/Auth: token refresh scheduled in 3540s for account #2',
  'Build 4.12.0 (2231) signed with SHA-1 %h40',
];

export const besideMail = [
  'Your verification code expires in 10 minutes.',
  'Message-ID: <%w24@mail.a.io>\nReferences: <%w24@mail.a.io>',
  'Your order 4711-%d6 ships on 4 March 2026.',
  'Enter the code we sent to +49 170 1234567',
  'Host: ftp.corp.io\nUser: web7\nAuth: key file\nPort: 21',
  'S: 535 5.7.8 Error: authentication failed\nC: QUIT',
  'DKIM-Signature: v=1; a=rsa-sha256; d=a.io; s=k1; bh=%b43=; b=%b86==',
  'Ticket #%d6: password reset mail is delayed by 20 minutes',
];

export const besideDevices = [
  'AT+CWMODE=1\nAT+CIPSTART="TCP","10.0.0.4",1883',
  'show running-config | include snmp-server location',
  'LoRa join: DevEUI 70B3D57ED0041234 JoinEUI %h16',
  'rtsp://192.168.1.64:554/Streaming/Channels/101?transport=tcp',
  'BSSID: 00:11:22:33:44:55  RSSI: -61  CH: 11  CC: DE  WPA2',
  'mqtt connect fail rc=5 (not authorized) user=sensor host=10.0.0.2',
  'firmware esp32-4mb-v2.1.7 crc32 %h8 ok',
];

export const besideRecords = [
  'Account;Kontakt;Portal-Login;Stadt\nMüller GmbH;Kim;mueller;Hamburg',
  'url,username,has_password,extra,name\nhttps://a.io,kim,yes,,A',
  'Patient;Geb.;Station\nKim M.;1980-02-01;B3',
  '{"records":[{"attributes":{"type":"Account","url":"/services/data/v58.0/sobjects/Account/001%A15"},"Name":"ERP"}]}',
  'name\tlicense\tseats\nCAD Pro\tfloating\t5',
];

export const besideHistories = [
  ' 1041  passwd kim',
  ': 1772619164:0;mysqldump -ushop -p shop > s.sql',
  'pass show web/a.io',
  'ssh -i ~/.ssh/id_ed25519 -p 2222 kim@10.0.0.4',
  'openssl enc -aes-256-cbc -kfile key.txt -in a -out b',
  'restic -r s3:s3.a.io/b --password-file /run/pw snapshots',
  'git checkout -b feature/password-reset-2024 origin/main',
  'gpg --recv-keys %h40',
];

export const besideEditors = [
  '"editor.tokenColorCustomizations": { "comments": "#6A9955" }',
  'machine api.a.io login kim',
  '{"sqltools.connections":[{"server":"db","username":"app","askForPassword":true,"name":"prod"}]}',
];

export const besideGames = [
  'enable-rcon=true\nrcon.port=25575\nmotd=Hallo',
  '[12:01:44] [Server thread/INFO]: UUID of player kim is %U',
  'ServerSettings=(Difficulty=None,PublicPort=8211,ServerName="Kim")',
];

export const besideMoney = [
  'POST /v1/payments pi_%A24 card brand=visa last4=4242',
  'tx 0x%h64 confirmed in block 19283746',
  'address: 0x52908400098527886E0F7030069857D2E4169EE7 balance: 1.204 ETH',
  'xpub661MyMwAqRbcF%A94',
  'bank transfer of 123456 JPY confirmed at 11:02',
];
