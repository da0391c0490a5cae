/**
 * Formats that belong to a standard rather than to one provider: signed tokens, key files, password hashes, identity
 * services.
 */
import { type Shape, shape } from './shape.ts';

/** `eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0`: only the header, which names algorithms. */
function isWholeHeader(body: string): boolean {
  if (body.length > 200 || body.includes('.')) return false;
  return /^\{("(?:alg|enc|typ|cty|zip)":"[\w+-]{1,24}",?)+\}$/.test(
    Buffer.from(`eyJ${body}`, 'base64url').toString('latin1'),
  );
}

export function standardShapes(): Shape[] {
  return [
    shape(
      'jwt',
      'eyJ',
      /[\w-]{8,4000}\.(?:eyJ[\w-]{2,8000}|[\w-]{0,2000}\.[\w-]{4,8000})(?:\.[\w-]{0,4000}){0,3}/,
      { wholeWord: true },
    ),
    // Truncated before its first or second dot: recognized by the header's first field.
    shape(
      'jwt-part',
      'eyJ',
      /(?:hbGci|0eXAi|raWQi|lbmMi|jdHki|qa3Ui|4NXQi)[\w-]{6,4000}(?:\.[\w-]{0,8000}){0,4}/,
      { wholeWord: true, isPublic: isWholeHeader },
    ),
    shape(
      'paseto',
      'v1.local. v2.local. v3.local. v4.local. v1.public. v2.public. v3.public. v4.public.',
      /[\w-]{20,2000}(?:\.[\w-]{1,500})?/,
    ),
    // What ASP.NET's data protection made: cookies, tokens of forms.
    shape('aspnet-protected', 'CfDJ8', /[\w-]{60,4000}/, { wholeWord: true }),
    shape('digest-response', 'response=" response=\\"', /[0-9a-f]{32,64}/),
    shape('age-secret-key', 'AGE-SECRET-KEY-', /1[0-9A-Z]{20,80}/),
    shape('age-plugin-identity', 'AGE-PLUGIN-', /[A-Z0-9]{2,20}-1[0-9A-Z]{20,200}/),
    shape('bcrypt-hash', '$2a$ $2b$ $2x$ $2y$', /\d\d\$[./A-Za-z0-9]{30,53}/),
    shape(
      'argon2-hash',
      '$argon2',
      /(?:id|i|d)\$(?:v=\d{1,3}\$)?m=\d{1,9},t=\d{1,5},p=\d{1,5}\$[A-Za-z0-9+/=]{8,90}\$[A-Za-z0-9+/=]{16,200}/,
    ),
    shape(
      'crypt-hash',
      '$1$ $5$ $6$ $y$ $7$ $apr1$',
      /(?:rounds=\d{1,9}\$)?[./A-Za-z0-9$]{2,40}\$[./A-Za-z0-9]{20,100}/,
    ),
    shape(
      'scrypt-hash',
      '$scrypt$ $pbkdf2- pbkdf2_sha256$ pbkdf2_sha512$ pbkdf2_sha1$',
      /[\w$=,./+-]{20,250}/,
    ),
    shape(
      'otpauth-uri',
      'otpauth://',
      /(?:totp|hotp)\/[\w%&=.:@+?-]{0,200}secret=[A-Za-z2-7=]{8,128}[\w%&=.:@+-]{0,200}/,
    ),
  ];
}
