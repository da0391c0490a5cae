/** Words that people join for a password, with a digit or a sign, where a call, a sign-in or a statement announces them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';

function withheld(...cases: (readonly [text: string, secret: string])[]): void {
  for (const [text, secret] of cases) assert.ok(!redact(text).includes(secret), redact(text));
}

test('joined words with a digit or a sign are withheld where they are announced', () => {
  withheld(
    ['client.login("mira", "curlewBay7")', 'curlewBay7'],
    ["authenticate('svc', 'Kittiwake#Cove')", 'Kittiwake#Cove'],
    ['auth=("mira", "Plover.Nest2")', 'Plover.Nest2'],
    ['staging login is mira / stormPetrel8', 'stormPetrel8'],
    ['try user admin with Zebra!Crossing1? That worked', 'Zebra!Crossing1'],
    ['client authenticated with secret "magnolia-ferry-3"', 'magnolia-ferry-3'],
    ["EXEC sp_addlogin 'svc', 'Dragonfly_12', 'app';", 'Dragonfly_12'],
    ['net use Z: \\\\nas\\share copperKettle /user:mira', 'copperKettle'],
    ["CREATE USER 'web'@'%' IDENTIFIED BY 'willow and reed';", 'willow and reed'],
    ['BACKUP_PASSPHRASE=correct staple onion harbour', 'onion harbour'],
    ['C: AUTH LOGIN c3ZjQGV4YW1wbGUub3Jn R2xhY2llcjg4', 'R2xhY2llcjg4'],
  );
});

test('what such places hold besides passwords stays', () => {
  for (const text of [
    "signIn('google', { callbackUrl: '/home' })",
    "authenticate('jwt', 'local')",
    'authenticate("session", "cookieStore2")',
    'getCredentials("default", "us-east-1")',
    'auth: ["read", "write"]',
    'user kim with role admin',
    'user admin with 2FA enabled',
    'secret "web-tls-2" not found',
    "it is identified by 'the name of the file'",
    'SECRET_KEY="YOURSECRETKEYGOESHERE"',
    'token: "should-not-be-called",',
    '"pass": "L\'attributo ARIA è supportato"',
    '"pass": "el valor de autocomplete está en un elemento apropiado"',
  ])
    assert.equal(redact(text), text);
});

test('a phrase or a command that a person may have chosen is no sentence and no stand-in', () => {
  withheld(
    ['credential: "trustme! server & ivory"', 'ivory'],
    ["clave='caballos, grapas & pilas!'", 'grapas'],
    ['"pass": "été soleil plage"', 'soleil'],
    ['DB_PASSWORD=do-not-tell-anyone', 'tell-anyone'],
  );
});

test('what follows a passphrase in a command is no part of it', () => {
  for (const rest of [' || exit 1', ' gpg --batch -d file.gpg', ' && gpg -d x'])
    for (const value of ['Xk29dkeLw3qQ', '3bdc606b-ed6e-4a4c-a41f-90173b9d5294']) {
      const text = redact(`BACKUP_PASSPHRASE=${value}${rest}`);
      assert.ok(!text.includes(value) && text.endsWith(rest), text);
    }
});
