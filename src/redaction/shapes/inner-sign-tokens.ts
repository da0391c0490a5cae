/**
 * Tokens without a public start that are recognized by a sign within them: Telegram's colon, Discord's dot, Azure's tilde,
 * and the secret half of an AWS key pair next to its public half. From the providers' public formats.
 */
import type { Finding, Page } from '../scan/page.ts';

const telegramToken = /:[A-Za-z0-9_-]{30,50}(?![A-Za-z0-9_-])/y;
const discordToken = /[MNO][\w-]{22,28}\.[\w-]{6}(?:\.[\w-]{5,45})?(?![\w-])/y;
const azureSecret = /[\w.~-]{26,40}/y;
/** What is between the two halves of a key pair. */
const halves = String.raw`["']?[\s,;:|]{1,8}(?:\/\s)?["']?`;
/** The secret half, by the rule of the public one. */
const secretHalves: Record<string, { pattern: RegExp; rule: string }> = {
  'aws-access-key-id': {
    pattern: new RegExp(`${halves}([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])`, 'y'),
    rule: 'aws-secret-key',
  },
  'alibaba-access-key': {
    pattern: new RegExp(`${halves}([A-Za-z0-9]{30})(?![A-Za-z0-9+/=])`, 'y'),
    rule: 'alibaba-secret-key',
  },
  'tencent-secret-id': {
    pattern: new RegExp(`${halves}([A-Za-z0-9]{32})(?![A-Za-z0-9+/=])`, 'y'),
    rule: 'tencent-secret-key',
  },
};

/** A bot's number precedes the colon at `sign`, after `bot` in an API address. */
export function findTelegramToken(
  { text }: Page,
  place: { start: number; end: number; sign: number },
): Finding | undefined {
  telegramToken.lastIndex = place.sign;
  if (!/^(?:bot)?\d{8,10}$/.test(text.slice(place.start, place.end)) || !telegramToken.test(text))
    return undefined;
  return { start: place.sign + 1, end: telegramToken.lastIndex, rule: 'telegram-bot-token' };
}

/** A word that starts at `start` and is followed by a dot. */
export function findDiscordToken({ text }: Page, start: number): Finding | undefined {
  discordToken.lastIndex = start;
  if (!discordToken.test(text)) return undefined;
  const end = discordToken.lastIndex;
  // `NotificationSchema.extend` and `OpenIdScheme2.toJSON` have the same structure.
  const token = text.slice(start, end);
  return /\d/.test(token) && !/^(?:[A-Z]+[a-z]{2,}){2,}\d?\./.test(token)
    ? { start, end, rule: 'discord-bot-token' }
    : undefined;
}

/** Three characters, a digit, `Q~`, and thirty-odd more. The tilde is at `tilde`. */
export function findAzureSecret({ text, units }: Page, tilde: number): Finding | undefined {
  const start = tilde - 5;
  if (start < 0 || units[tilde - 1] !== 81) return undefined;
  azureSecret.lastIndex = tilde + 1;
  if (!/^[\w.~-]{3}[78]Q~$/.test(text.slice(start, tilde + 1)) || !azureSecret.test(text)) return undefined;
  return { start, end: azureSecret.lastIndex, rule: 'azure-client-secret' };
}

/** The secret half of a key pair, next to its public half, which `rule` has found and which ends at `from`. */
export function findSecretHalf({ text }: Page, rule: string, from: number): Finding | undefined {
  const half = secretHalves[rule];
  if (!half) return undefined;
  half.pattern.lastIndex = from;
  const secret = half.pattern.exec(text)?.[1];
  if (secret === undefined) return undefined;
  const end = half.pattern.lastIndex;
  return { start: end - secret.length, end, rule: half.rule };
}
