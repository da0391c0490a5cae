/** Values with a sign in them at which others end, and values in brackets of a command. */
import { test } from 'node:test';
import { keeps, withholds } from '../../support/secrets/marked-texts.ts';

test('a flag whose value another command makes', () => {
  withholds([
    "Set-ADAccountPassword -Identity kim -NewPassword (ConvertTo-SecureString '‹Eis-Zapfen_6›' -AsPlainText -Force)",
    'New-LocalUser "svc" -Password (ConvertTo-SecureString -String "‹Hagel!Korn1›" -AsPlainText -Force)',
  ]);
  keeps(['Connect-Thing -Credential (Get-Secret deploy)']);
});

test('the other quotes within an argument', () => {
  withholds([`curl -u 'ops:‹Tannen"zapfen8›' https://grafana.local/api/org`]);
  // The string ends first.
  withholds([`{"cmd":"curl -u 'ops:‹Tannenzapfen88›","note":"it's open"}`]);
});

test('an ampersand within a list that semicolons divide', () => {
  withholds([
    'Host=pg;Username=app;Password=‹Moor&Eiche7›',
    'Host=pg;Username=app;Password=‹Moor&Eiche7›;Timeout=5',
    '<add connectionString="User Id=sa;Password=‹Leucht&amp;Turm3›;"/>',
    'a=1;password=‹Moor77Eiche›&x=1',
  ]);
});

test('a quoted password of IMAP, whatever it contains', () =>
  withholds(['a1 LOGIN kim@acme.io "‹Zimt;Stern9›"', 'A001 LOGIN "kim" "‹Nuss:Knacker5›"']));

test('the key of an account, of which a client is made', () => {
  withholds([
    "new Client('‹2684635ebea6e436c1bae1f03fb258bd28bd3b6e›')",
    'new WeatherApi("‹2684635ebea6e436c1bae1f03fb258bd›")',
  ]);
  keeps([
    "verify('2684635ebea6e436c1bae1f03fb258bd28bd3b6e')",
    "new Client('00000000000000000000000000000000')",
  ]);
});

test('a user and a password to sign in with', () => {
  withholds([
    'use demo / ‹Sonnen-blume8› to log in',
    'login with admin and ‹Käse!Kuchen3›',
    'bad credentials [eva:‹Linsen#Suppe8›]',
    `page.fill('input[name="pass"]', '‹Rettich&Salat4›')`,
  ]);
  keeps(['demo / index2', 'login with github and google', 'login using one and another']);
});

test('an unset variable of words; not an example', () => {
  withholds(["const k = process.env.COOKIE_SECRET ?? '‹mushroom-lantern-quartz›'"]);
  keeps(["const k = process.env.COOKIE_SECRET ?? 'dev-secret'"]);
});

test('sentences, types and numbered variables stay', () =>
  keeps([
    '"pass": "aria-level 값이 유효합니다."',
    '"pass": "Το στοιχείο λίστας έχει ένα γονικό στοιχείο <ul>, <ol>"',
    'private activePrefixKey: ShortcutTreeNode|null;',
    'function serializeToken(input: Token): SerializationResult|Error {',
    '"pass": "ARIA属性値が有効です"',
    'tokenData:"!2|~R!`OX%TXY%oY[%T[]%o]p%Tpq%oqr\'ars)Yst"',
    '"pass": "ARIA属性が定義されたロールに対して正しく使用されています"',
    "token: 'DataGridInternalToken',",
    'For multi-user threads, pass `includeNames: true` so that it can tell',
  ]));

test('passphrases of other languages, and words that are joined like types', () =>
  withholds([
    'DB_PASSWORD=‹すいかとめろんとぶどう9›',
    '"password": "‹ひらがなのあいことばはながい›"',
    "export DB_PASSWORD='‹Käse und Brot (Wurst) 9›'",
    '{"db":{"password":"‹más vale tarde que nunca.›"}}',
    '"pass": "‹東京都港区六本木7丁目の合言葉›"',
    '"password": "‹あいこくしん　あいさつ　あいだ　あおぞら　あかちゃん　あきる›"',
    'secret: ‹Correct|Horse|Battery›',
    '"password": "‹Xy3_R^kd8Gh2Lq9Zp4Wm7Tn1Vb6›"',
    "apiKey: '‹SunFlowerToken›',",
  ]));
