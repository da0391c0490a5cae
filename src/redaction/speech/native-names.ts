/**
 * Names of credentials that contain letters the scanner doesn't treat as part of a word: `пароль: x`, `密码=x`, `contraseña:
 * x`. The languages are those that people use in configuration and chat.
 */

import type { NameVerdict } from '../names/key-names.ts';
import type { Page } from '../scan/page.ts';

const password =
  /парол|пасворд|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|contraseñ|hasł|jelsz|lösenord|şifre|salasõna|κωδικ|סיסמ|كلمة|पासवर्ड|รหัสผ่าน|mật khẩu|parolă|лозинк|գաղտնաբառ|პაროლ|رمز|گذرواژ|پسورد|পাসওয়ার্ড|கடவுச்சொல்|slaptažod|fjalëkalim|lykilorð|[şš]ifr|нууц үг|құпиясөз/i;
const token =
  /токен|секрет|密钥|密鑰|令牌|トークン|シークレット|토큰|시크릿|clé|accès|ключ|鍵|キー|키|schlüssel|nyckel|nøgle|nøkkel|klíč|kľúč|anahtar|κλειδ|khóa|מפתח|مفتاح/i;
const reach = 32;

/** The name of a column, or of all, contains a word for a password that is not plain ASCII. */
export const isNativePassword = (name: string): boolean => password.test(name);

/** The verdict on the words before the sign at `sign`; undefined if they are plain ASCII or not sensitive. */
export function findNativeName(page: Page, sign: number): NameVerdict | undefined {
  const { units } = page;
  let start = sign;
  let isNative = false;
  while (start > 0 && sign - start < reach && isNameUnit(units[start - 1]!)) {
    start -= 1;
    isNative ||= units[start]! >= 128;
  }
  if (!isNative) return undefined;
  const name = page.text.slice(start, sign);
  if (password.test(name)) return { strength: 3, rule: 'password' };
  return token.test(name) ? { strength: 2, rule: 'token' } : undefined;
}

/**
 * The name before `sign` contains or follows a letter that is not ASCII, or one is in the words before it: `hasło do bazy: x`.
 * Names in other scripts are read backwards from the sign.
 */
export function mayBeNative(units: Uint16Array, sign: number, nameStart: number): boolean {
  if (units[sign - 1]! > 127 || (nameStart > 0 && units[nameStart - 1]! > 127)) return true;
  if (units[sign] !== 58 || units[nameStart - 1] !== 32) return false;
  for (let i = nameStart - 2; i >= 0 && sign - i < reach; i--) {
    if (units[i]! > 127) return true;
    if (!isNameUnit(units[i]!)) return false;
  }
  return false;
}

/** Letters, blanks, quotes and connectors; not line breaks or signs. */
function isNameUnit(unit: number): boolean {
  return unit >= 128 || unit === 32 || unit === 34 || unit === 95 || unit === 45 || (unit > 64 && unit < 123);
}
