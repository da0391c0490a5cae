/**
 * Keys that are known as a whole, as the programs that use them write them: which values are withheld under each, and as what.
 * Written out here a second time, so that a name which is lost from the table is missed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../../src/redaction/index.ts';

const word = 'trombone';
const random = ['w7Kq2', 'mXz9P', 'tR4vB1s'].join('');
const digits = '482913';

const ofEveryValue = {
  credential: '_authIdent npmAuthIdent basicAuth userpwd userpass',
  'seed-phrase': 'mnemonic seedPhrase recoveryPhrase mnemonicPhrase',
  password: `passphrase psk wpa_psk ldap_default_authtok mot_de_passe requirepass masterauth identifiedBy clave`,
  secret: 'code_verifier otp_seed totpSeed signingSeed oauth_verifier',
  'presigned-signature': 'X-Amz-Signature X-Goog-Signature x-oss-signature',
  session: 'connect.sid PHPSESSID JSESSIONID ASPSESSIONID ASP.NET_SessionId NET_SessionId sessionCookie',
  'api-key': 'clave_api',
};

const ofWhatIsRandom = {
  token: 'client_assertion id_token_hint device_code',
  authorization: 'Authorization Proxy-Authorization X-Authorization',
  signature: 'sig',
  session: 'sessid',
  'access-key-id': 'aws_access_key_id accessKeyId',
  'presigned-credential': 'X-Amz-Credential',
  'encryption-key': 'kek dek',
  'private-key': 'p8 p12 pfx wif',
  credential: 'unlockCode auth xauth',
  'authorization-code': 'codes',
};

const ofDigits = {
  pin: 'pin puk cvv passkey',
  'one-time-code': 'otp totp',
};

/** The rule by which the value of this key is withheld; undefined if it is kept. */
function ruleOf(key: string, value: string): string | undefined {
  const shown = JSON.parse(redact(JSON.stringify({ [key]: value })))[key] as string;
  return shown === value ? undefined : /^\[redacted:([\w-]+)#[0-9a-f]{8}\]$/.exec(shown)?.[1];
}

function hold(names: Record<string, string>, value: string, isWithheld: boolean): void {
  for (const [rule, keys] of Object.entries(names))
    for (const key of keys.split(' ')) assert.equal(ruleOf(key, value), isWithheld ? rule : undefined, key);
}

test('under some keys every value is withheld', () => {
  for (const value of [word, random, digits]) hold(ofEveryValue, value, true);
});

test('under others, what is random', () => {
  hold(ofWhatIsRandom, random, true);
  hold(ofWhatIsRandom, word, false);
});

test('or a number', () => {
  hold(ofDigits, digits, true);
  hold(ofDigits, word, false);
});
