/** Passwords that a sentence tells, in the languages of speech/said-words.ts. */
import { test } from 'node:test';
import { keeps, withholds } from '../../support/secrets/marked-texts.ts';

test('a password behind a verb of its language, with words between', () =>
  withholds([
    'das Kennwort fürs NAS lautet ‹dragonfly›, bitte nicht weitergeben',
    'la clave del router es ‹sunflower› y el usuario admin',
    'a senha do painel é ‹Karma2018›, não passa pra ninguém',
    'hasło do serwera to ‹Cedar6284!bl87›',
    'salasana on ‹Karma2022›, älä jaa',
    'lösenordet till databasen är ‹Flint8216!k0xw›',
    'mật khẩu là ‹Karma2018› nhé',
    'kata sandinya ‹birch-sunflower› ya',
    'het wachtwoord voor de kluis is ‹Flint8216!k0xw›',
  ]));

test('a password beside letters of no Latin script', () =>
  withholds([
    'пароль от админки — ‹tTJX6XWX#J5F5GI4›, логин admin',
    'पासवर्ड ‹uWMSM84oDNAhqPP1› है',
    'รหัสผ่าน ‹gchi-oq7C5O-qw28› ครับ',
    'הסיסמה היא ‹Hazel6278!4h6x›',
    '‹Hazel6278!4h6x› это пароль',
  ]));

test('a password before the word for it', () =>
  withholds([
    'still locked out? use ‹Grove9291!5d10› for now, it is the admin password on staging',
    'lmk if ‹Mango2016› doesnt work, thats the root pass',
    '‹Grove9291!5d10› ist das Kennwort',
  ]));

test('a password behind a word that is glued to another, or borrowed', () =>
  withholds([
    'Das WLAN-Passwort im Büro ist ‹BirchBirch353›',
    'Das Rootpasswort lautet ‹dragonfly›.',
    'nimm ‹Ember6675!ofp2›, das ist das neue Root-Passwort',
    'la password del NAS è ‹Birch8498!qgd5›, cambiala appena puoi',
    'a wifi jelszó ‹Amber6256!azhr›',
  ]));

test('a column of passwords whose name is not in ASCII', () =>
  withholds([
    'Имя;Логин;Пароль\nКим;kim;‹Lemon2753!5zib›',
    '| 系统 | 账号 | 密码 |\n|---|---|---|\n| NAS | kim | ‹Delta6248!1o3d› |',
    'Nom,Prénom,Mot de passe\nDupont,Kim,‹hnfr-sc0lbP-rr1h›',
    'Benutzer;E-Mail;Initialkennwort\nkim;k@a.io;‹4r6p-dRZuv7-ohjz›',
  ]));

test('what is said of a password, without telling it, stays', () =>
  keeps([
    'het wachtwoord is verlopen',
    'Das Kennwort ist abgelaufen, bitte neu setzen',
    'la contraseña es obligatoria',
    'le mot de passe est trop court',
    'lösenordet är för kort',
    'salasana on vanhentunut',
    'heslo je povinne',
    'parola este incorectă',
    'パスワードは8文字以上です',
    'пароль должен содержать 8 символов, см. RFC7519',
    'пароль от базы в 1Password, раздел infra-2024',
    '密码在 1Password 里，看 infra-2024',
    'パスワードは Slack の #infra-2024 を見てください',
    'An effort has been made to ensure ambiguous paths throw an error.',
    'The same as you would pass to `Http.createServer`.',
    'the password was changed on web-app2024',
    'Das WLAN-Passwort hängt an der Wand neben der Tür.',
    'Das Rootpasswort ist abgelaufen.',
    '| 系统 | 账号 | 状态 |\n|---|---|---|\n| NAS | kim | 正常 |',
    'public transport, line 4821abc9',
    '--- PASS: TestLogin22 (0.00s)',
  ]));

test('a value behind a mentioned name, a key in hex, a link that resets, a statement of one tool', () => {
  withholds([
    'value of variable [ARTIFACTORY_PW] is ‹trustme74›',
    '%env.KEYSTORE_PIN% resolved to ‹354557›',
    'LoRa join: DevEUI 70B3D57ED0041234 AppKey ‹2666e96d70f888fed2d0e097a35b4fea›',
    'HMAC key ‹b559f641ce009e521ca40f8abb344f2b95b2d426e067e4aa7cc17c672678eb01› configured',
    'follow https://a.io/reset?uid=7&t=‹A9sAxdhO96S0ca4xFvIzMMPCasGCu945› within an hour.',
    'printf "%s" ‹Pearl3537!xsrt› | pass insert -e web/a.io',
    'kinit kim@CORP.IO <<< ‹gz35-vEGIn3-r3jy›',
    'echo -n "‹F0jZvsTmtHhaJEpf›" > /run/secrets/db_password',
    'hydra -l kim -p ‹birch_525_ocean79› ssh://10.0.0.4',
    'Tracking portal access: user web7 / pass ‹Delta2023›',
    'creds -> kim // ‹birch_546_north95›',
    'restic -r s3:s3.a.io/b --password-command "echo ‹0FMZOUj8#vDGKuWK›" snapshots',
    'clave es "‹mariposa›"',
    'wachtwoord is "‹vlinderst›"',
    'Passwort (‹geheimen›)',
    'kennwort (‹regenbogen›)',
    'the pass is ‹Mango2016›',
    `DETAIL:  select 1 where password = $2 parameters: $1 = '${'a b '.repeat(1500)}', $2 = '‹hunterpass›'`,
    `DETAIL:  select 1 where password = $1 parameters: $1 = '‹${'a b '.repeat(300)}›', $2 = 'kim@a.io'`,
    `INSERT INTO users (bio, password) VALUES ('${'a b '.repeat(1500)}', '‹hunterpass›')`,
    "DETAIL:  select 1 where password = $2 parameters: $1 = 'kim@a.io', $2 = '‹pmwp-UthtxK-refi›'",
  ]);
  keeps([
    'cache key 2666e96d70f888fed2d0e097a35b4fea',
    'gpg key 4ED778F539E3634C779C87C6D7062848A1AB005C',
    'variable [ARTIFACTORY_PW] is missing',
    'the next pass is O3-inline, then codegen',
    'clave es obligatoria',
    'Das Passwort ist verlorengegangen.',
    'echo -n "build2024x" > /run/secrets.log/done',
    'http GET a.io/me',
    'printf "%s" "$(cat x)" | pass insert -e web/a.io',
    'https://a.io/list?uid=7&t=A9sAxdhO96S0ca4xFvIzMMPCasGCu945',
    "DETAIL:  select 1 where sku = $1 parameters: $1 = 'A-2231', $2 = 'de_DE'",
  ]);
});

test('the answer to a question of many short words, or with a carriage return in it', () =>
  withholds([
    'password to get in to it if I am at my PC?\nits ‹Xk29!kfa83›',
    'password for the\r wifi?\nits ‹Xk29!kfa83›',
  ]));
