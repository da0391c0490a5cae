/**
 * The nineteenth set: pipelines, statements, talk in eighteen languages, infrastructure, phones, mail, devices, mainframes,
 * exports, histories, editors, games, payment, medicine, wallets. Written in one go by somebody who had not read the rules, and
 * measured once before they were changed.
 */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of other languages

export const pipelines = [
  '##[debug]Evaluating: secrets.DEPLOY\n##[debug]=> \'%T\'\n##[debug]Result: "%T"',
  '+ curl -sSf -u jenkins:%P https://nexus.corp.io/repository/raw/app.tgz -o app.tgz',
  '[Pipeline] sh\n+ ./gradlew publish -PnexusUser=ci -PnexusPass=%P',
  'Step 7/12 : RUN echo "//registry.corp.io/:_auth=%A40" > ~/.npmrc\n ---> Running in 4f1c9d2b7a31',
  'time="2026-03-04T11:02:31Z" level=debug msg="exec: helm upgrade app ./chart --set db.rootPassword=%P --wait"',
  '$ docker login -u gitlab-ci-token -p %w26 registry.corp.io',
  'Run sshpass -p "%P" rsync -az dist/ deploy@10.0.3.4:/srv/www',
  'buildkite-agent start --token "%h48" --tags queue=linux',
  '  env:\n    NODE_AUTH_TOKEN: %w36\n    CI: true',
  'Masking failed: value of variable [ARTIFACTORY_PW] is %J',
  'TeamCity: %env.KEYSTORE_PIN% resolved to %N',
  'circleci> environment variable CODESIGN_KEY_PASS was set to "%J" by context ios-release',
];

export const statements = [
  "LOG:  execute <unnamed>: select * from login where email = $1 and password = $2\nDETAIL:  parameters: $1 = 'kim@a.io', $2 = '%P'",
  "CREATE ROLE reporting LOGIN PASSWORD '%P' VALID UNTIL 'infinity';",
  "mysql> GRANT ALL ON shop.* TO 'shop'@'%' IDENTIFIED BY '%J';",
  "INSERT INTO wp_users (user_login, user_pass, user_email) VALUES ('kim', '%P', 'kim@a.io');",
  "UPDATE settings SET value = '%A32' WHERE name = 'smtp_password';",
  "ALTER LOGIN sa WITH PASSWORD = N'%P' UNLOCK;",
  "CREATE USER MAPPING FOR app SERVER remote OPTIONS (user 'app', password '%P');",
  'db.createUser({ user: "app", pwd: "%J", roles: ["readWrite"] })',
  "COPY t FROM 's3://b/k' CREDENTIALS 'aws_access_key_id=AKIA%X16;aws_secret_access_key=%b40'",
  'sqlplus scott/%J@//db:1521/ORCL',
  'CONNECT TO SAMPLE USER db2inst1 USING %P',
  ' id |  login   |     passwd     |  mail\n----+----------+----------------+---------\n  7 | kim      | %Q | k@a.io\n(1 row)',
  "BACKUP CERTIFICATE c TO FILE = 'c.cer' WITH PRIVATE KEY (FILE = 'c.pvk', ENCRYPTION BY PASSWORD = '%P');",
  '"app" "%P"\n"stats" "md5%h32"',
  "exec sp_addlinkedsrvlogin 'ERP', 'false', NULL, 'erp_ro', '%P'",
  "SELECT crypt('%P', gen_salt('bf'));",
];

export const talk = [
  'Kim: das Kennwort fürs NAS lautet %J, bitte nicht weitergeben',
  'le mot de passe du wifi c’est %J',
  'la clave del router es %J y el usuario admin',
  'a senha do painel é %J, não passa pra ninguém',
  'il codice di accesso al portale: %A10',
  'het wachtwoord is %J, graag vandaag nog wijzigen',
  'hasło do serwera to %P',
  'пароль от админки — %P, логин admin',
  'şifre: %J (büyük harfle başlıyor)',
  'salasana on %J, älä jaa',
  'lösenordet till databasen är %P',
  'adgangskoden er %J',
  'heslo je %P',
  'jelszó: %J',
  'mật khẩu là %J nhé',
  'kata sandinya %J ya',
  '密码是%P，别发群里',
  'パスワードは %P です',
  '비밀번호는 %P 입니다',
  'पासवर्ड %P है',
  'รหัสผ่าน %P ครับ',
  'كلمة المرور هي %P',
  'הסיסמה היא %P',
  'parola este %J',
  'ο κωδικός είναι %P',
  'hey, still locked out? use %P for now, it is the admin password on staging',
  'pw for the vpn box: %J / user kim',
  'lmk if %J doesnt work, thats the root pass',
];

export const infrastructure = [
  '        {\n          "mode": "managed",\n          "type": "random_password",\n          "name": "db",\n          "instances": [{ "schema_version": 3, "attributes": { "bcrypt_hash": null, "length": 20, "result": "%A20", "special": true } }]\n        }',
  'resource "azurerm_mssql_server" "s" {\n  administrator_login          = "crm"\n  administrator_login_password = "%P"\n}',
  'google_sql_user.u: Creating...\n  + name     = "app"\n  ~ password = "%P" -> (sensitive value)',
  'Outputs:\n\nadmin_kubeconfig_token = "%A64"\nurl = "https://k.corp.io"',
  'apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  username: YXBw\n  pw: [[b64:%P]]',
  '- name: set grafana admin\n  community.grafana.grafana_user:\n    url: http://g:3000\n    url_password: %P\n    state: present',
  'users:\n- name: root\n  passwd: "%P"\nchpasswd:\n  expire: false',
  '#cloud-config\nchpasswd:\n  list: |\n    root:%P\n    deploy:%J',
  'pulumi config set --plaintext stripe:apiKey rk_live_%A40',
  'consul kv put app/prod/db_password %P',
  'vault kv put secret/app api=%A32 url=https://a.io',
  'kubectl create secret generic db --from-literal=pw=%P -n prod',
  'Parameters:\n  DbMasterPw:\n    Type: String\n    NoEcho: true\n    Default: %P',
  'nomad operator root keyring: encrypt = "%b43="',
  '10.0.0.7 ansible_user=root ansible_ssh_pass=%P ansible_become_pass=%J',
  'etcdctl --user root:%P get / --prefix --keys-only',
];

export const phones = [
  'D/OkHttp: Authorization: Basic [[b64:kim:%P]]\nD/OkHttp: --> END GET',
  'storePassword=%J\nkeyPassword=%J\nkeyAlias=upload\nstoreFile=../up.jks',
  '2026-03-04 11:02:31.123 App[512:9911] keychain item saved: kSecValueData=%P acct=kim',
  'I/flutter (12345): login response {user: kim, refresh: %w43, exp: 3600}',
  'adb shell settings put secure wifi_psk %P',
  '<string name="prefs_pin">%N</string>',
  'NSLog: push device authenticated with secret <%h64>',
  'match(type: "appstore", passphrase: "%P")',
  "ReactNativeJS: 'AsyncStorage setItem', '@session', '%w43'",
  'FASTLANE_APPLE_APPLICATION_SPECIFIC_PASSWORD=%a4-%a4-%a4-%a4 fastlane beta',
];

export const mail = [
  'Subject: Your new account\n\nHello Kim,\n\nyour temporary password:\n\n    %P\n\nPlease change it at first login.',
  'Your verification code is %N. It expires in 10 minutes.',
  'Use %N as your Instagram login code. Do not share it.',
  'Dear customer, OTP for transaction of Rs. 1,200 is %N. Valid for 5 min -HDFC',
  'G-%N is your Google verification code.',
  'To reset your password follow https://a.io/reset?uid=7&t=%w32 within an hour.',
  'S: 334 UGFzc3dvcmQ6\nC: [[b64:%P]]\nS: 235 2.7.0 Authentication successful',
  'a001 LOGIN kim@a.io %P\na001 OK LOGIN completed',
  'Hi, meeting link https://zoom.us/j/93412345678?pwd=%A32 see you at 9',
  'Host: ftp.corp.io\nUser: web7\nPass: %J\nPort: 21',
];

export const devices = [
  'wpa_passphrase LAGER %P',
  'network={\n\tssid="LAGER"\n\tpsk="%P"\n\tkey_mgmt=WPA-PSK\n}',
  'AT+CWJAP="LAGER","%P"',
  'username kim privilege 15 secret 0 %P',
  'snmp-server community %J RW',
  'set system login user kim authentication plain-text-password-value "%P"',
  '/ip hotspot user add name=kim password=%P',
  'rtsp://admin:%P@192.168.1.64:554/Streaming/Channels/101',
  'WiFi.begin("LAGER", "%P");',
  'wifi:\n  ssid: LAGER\n  password: %P\nota:\n  password: "%h32"\napi:\n  encryption:\n    key: "%b43="',
  'LoRa join: DevEUI 70B3D57ED0041234 AppKey %h32',
  'zigbee: install code for 0x00124b0018ed1234: %h32',
  'mqtt connect fail rc=5 user=sensor pass=%J host=10.0.0.2',
  'PSK: %P  BSSID: 00:11:22:33:44:55',
];

export const mainframes = [
  '//STEP1 EXEC PGM=IKJEFT01\n//SYSTSIN DD *\n LOGON KIM/%X8 ACCT(A1)\n/*',
  '//FTP EXEC PGM=FTP\n//INPUT DD *\n10.1.1.7\nKIM\n%P\nPUT A.B\nQUIT',
  'ALTUSER KIM PASSWORD(%X8) NOEXPIRED',
  'SIGNON USER(QSECOFR) PASSWORD(%P)',
  'CHGUSRPRF USRPRF(KIM) PASSWORD(%X9)',
];

export const records = [
  'Account;Kontakt;Portal-Login;Portal-Kennwort\nMüller GmbH;Kim;mueller;%J',
  '{"records":[{"attributes":{"type":"Integration__c"},"Name":"ERP","Endpoint__c":"https://erp","Client_Secret__c":"%K"}]}',
  'url,username,password,extra,name\nhttps://a.io,kim,%P,,A',
  'folder,favorite,type,name,login_uri,login_username,login_password,login_totp\n,,login,A,https://a.io,kim,%P,%O',
  '<Entry><String><Key>Password</Key><Value ProtectInMemory="True">%P</Value></String></Entry>',
  'Patient;Geb.;Portalcode\nKim M.;1980-02-01;%X8',
  'MSH|^~\\&|LAB|A|B|C|20260304||ADT^A01|1|P|2.5\nZPW|kim|PASSWORD|%P',
  '{"device":"pump7","service_mode_pin":"%N","ward":"B3"}',
  'name\tlicense key\tseats\nCAD Pro\t%G\t5',
];

export const histories = [
  ' 1041  export PGP_PASS=%J',
  ': 1772619164:0;mysqldump -ushop -p%P shop > s.sql',
  'printf "%s" %P | pass insert -e web/a.io',
  'echo "kim:%P" | chpasswd',
  'xfreerdp /u:kim /p:%P /v:10.0.0.4',
  'net user kim %P /add',
  'ldapwhoami -x -D cn=admin,dc=a,dc=io -w %P',
  'smbclient //nas/x -U kim%%P',
  'expect -c \'spawn ssh kim@a; expect "assword:"; send "%P\\r"; interact\'',
  'kinit kim@CORP.IO <<< %P',
  'htpasswd -nb kim %P',
  '7z x -p%P backup.7z',
  'zip -P %P out.zip a',
  'rclone obscure %P',
  'gh auth login --with-token <<< "gho_%A36"',
  'bw unlock %P --raw',
  'openssl enc -aes-256-cbc -k %P -in a -out b',
  'restic -r s3:s3.a.io/b --password-command "echo %P" snapshots',
  'redis-cli -h r -a %P ping',
  'curl -H "X-Vault-Token: %A26" $VAULT_ADDR/v1/secret/data/a',
];

export const editors = [
  '{"sqltools.connections":[{"server":"db","username":"app","password":"%P","name":"prod"}]}',
  '"rest-client.environmentVariables": { "prod": { "host": "a.io", "token": "%A40" } }',
  "let g:db = 'postgres://app:%P@db/app'",
  '(setq jabber-account-list \'(("kim@a.io" (:password . "%P"))))',
  'machine api.a.io login kim password %A20',
  '<component name="DataSource"><jdbc-url>jdbc:mysql://db/app?user=app&amp;password=%P</jdbc-url></component>',
  "vim.g.copilot_key = '%A40'",
];

export const games = [
  'rcon.password=%J\nserver-port=25565\nmotd=Hallo',
  'rcon_password "%J"\nsv_password "%J"\nhostname "Kims Server"',
  'sv_setsteamaccount "%X32"',
  './ArkServer TheIsland?listen?ServerPassword=%J?ServerAdminPassword=%J?Port=7777',
  'ServerSettings=(Difficulty=None,AdminPassword="%J",PublicPort=8211)',
  'bot.run("MTE%A21.G%A5.%w38")',
  '[12:01:44] [Server thread/INFO]: kim issued server command: /login %P',
];

export const money = [
  'POST /v1/payments card[number]=4242424242424242&card[cvc]=%d3&source_key=sk_live_%A40',
  'wc_consumer: ck_%h40 cs_%h40',
  'Adyen.Notification: HMAC key %K configured for merchant CORP_ECOM',
  'paypal: clientId=A%w40 clientSecret=E%w60',
  'iDEAL merchantId=002012345 merchantKey=%A24',
  'bank transfer confirmed with TAN %N at 11:02',
  'mnemonic> %M',
  'Wallet restored.\n  address: 0x52908400098527886E0F7030069857D2E4169EE7\n  private: 0x%K',
  'bitcoin-cli walletpassphrase "%M" 60',
  'xprv9s21ZrQH143K%A80',
  'solana keypair: [%d2,%d2,%d2] base58 %A87',
  'spending key = SK%X50',
];
