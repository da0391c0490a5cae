/**
 * List prices of model calls at the vendors' own services, standard tier, each with the date on which it was last checked.
 * Prices that could not be checked are left out: no price is better than a guess. To update, read the vendors' pages, then
 * set `checked`. Sources: platform.claude.com/docs/en/about-claude/pricing, developers.openai.com/api/docs/pricing and
 * ai.google.dev/gemini-api/docs/pricing; older models and dates from github.com/pydantic/genai-prices (2026-08-21).
 */

/** US dollars per million tokens. */
export interface Price {
  input: number;
  output: number;
  cacheRead?: number;
  /** For the shortest cache lifetime that the vendor offers. */
  cacheWrite?: number;
  /** If the whole input is longer than `aboveTokens`, all input and output tokens cost this many times as much. */
  long?: { aboveTokens: number; input: number; output: number };
  /** The date on which the price was checked. */
  checked: string;
}

/** OpenAI's long-context surcharge since GPT-5.4. */
const longOpenai = { aboveTokens: 272_000, input: 2, output: 1.5 };
const longGemini = { aboveTokens: 200_000, input: 2, output: 1.5 };

const opus = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 };
const oldOpus = { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75 };
const sonnet = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

const autumn = '2026-10-24';
const summer = '2026-07-29';

const anthropic: Record<string, Price> = {
  'claude-fable-5-1': { input: 10, output: 50, cacheRead: 0.25, cacheWrite: 12.5, checked: autumn },
  'claude-fable-5': { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5, checked: autumn },
  'claude-opus-5-5': { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5, checked: autumn },
  'claude-opus-5': { ...opus, checked: autumn },
  'claude-opus-4-8': { ...opus, checked: autumn },
  'claude-opus-4-7': { ...opus, checked: autumn },
  'claude-opus-4-6': { ...opus, checked: autumn },
  'claude-opus-4-5': { ...opus, checked: autumn },
  'claude-opus-4-1': { ...oldOpus, checked: autumn },
  'claude-opus-4': { ...oldOpus, checked: autumn },
  'claude-sonnet-5-5': { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5, checked: autumn },
  'claude-sonnet-5': { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5, checked: autumn },
  'claude-sonnet-4-6': { ...sonnet, checked: autumn },
  'claude-sonnet-4-5': { ...sonnet, long: longGemini, checked: autumn },
  'claude-sonnet-4': { ...sonnet, checked: autumn },
  'claude-haiku-5-5': {
    input: 0.1,
    output: 0.5,
    cacheRead: 0.01,
    cacheWrite: 0.125,
    long: { aboveTokens: 100_000, input: 5, output: 5 },
    checked: autumn,
  },
  'claude-haiku-4-5': { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, checked: autumn },
  'claude-3-7-sonnet': { ...sonnet, checked: summer },
  'claude-3-5-sonnet': { ...sonnet, checked: summer },
  'claude-3-5-haiku': { input: 0.8, output: 4, cacheRead: 0.08, cacheWrite: 1, checked: summer },
  'claude-3-opus': { ...oldOpus, checked: summer },
  'claude-3-haiku': { input: 0.25, output: 1.25, cacheRead: 0.03, cacheWrite: 0.3, checked: summer },
};

const gpt52 = { input: 1.75, output: 14, cacheRead: 0.175 };
const gpt5 = { input: 1.25, output: 10, cacheRead: 0.125 };
const midYear = '2025-07-04';
const november = '2025-11-13';

const openai: Record<string, Price> = {
  'gpt-6-astra': { input: 10, output: 50, cacheRead: 1, long: longOpenai, checked: '2026-10-26' },
  'gpt-6.1-sol': { input: 2, output: 10, cacheRead: 0.1, long: longOpenai, checked: '2026-10-26' },
  'gpt-6.1-terra': {
    input: 1,
    output: 5,
    cacheRead: 0.05,
    cacheWrite: 1.25,
    long: longOpenai,
    checked: '2026-10-26',
  },
  'gpt-6-sol': {
    input: 2,
    output: 10,
    cacheRead: 0.2,
    cacheWrite: 2.5,
    long: longOpenai,
    checked: '2026-09-22',
  },
  'gpt-6-luna': {
    input: 0.1,
    output: 0.5,
    cacheRead: 0.01,
    cacheWrite: 0.125,
    long: longOpenai,
    checked: '2026-09-22',
  },
  'gpt-5.6-sol': { input: 4, output: 20, cacheRead: 0.4, long: longOpenai, checked: '2026-09-22' },
  'gpt-5.6-terra': { input: 2, output: 12, cacheRead: 0.2, long: longOpenai, checked: '2026-10-26' },
  'gpt-5.6-luna': { input: 0.2, output: 1.2, cacheRead: 0.02, long: longOpenai, checked: '2026-09-22' },
  'gpt-5.5': { input: 5, output: 30, cacheRead: 0.5, checked: '2026-06-09' },
  'gpt-5.5-pro': { input: 30, output: 180, checked: '2026-06-09' },
  'gpt-5.4': { input: 2.5, output: 15, cacheRead: 0.25, long: longOpenai, checked: '2026-06-09' },
  'gpt-5.4-mini': { input: 0.75, output: 4.5, cacheRead: 0.075, checked: '2026-06-09' },
  'gpt-5.4-nano': { input: 0.2, output: 1.25, cacheRead: 0.02, checked: '2026-06-09' },
  'gpt-5.3': { ...gpt52, checked: '2026-05-07' },
  'gpt-5.3-codex': { ...gpt52, checked: '2026-02-05' },
  'gpt-5.2': { ...gpt52, checked: '2025-12-11' },
  'gpt-5.1': { ...gpt5, checked: november },
  'gpt-5': { ...gpt5, checked: november },
  'gpt-5-mini': { input: 0.25, output: 2, cacheRead: 0.025, checked: november },
  'gpt-5-nano': { input: 0.05, output: 0.4, cacheRead: 0.005, checked: november },
  'gpt-4.1': { input: 2, output: 8, cacheRead: 0.5, checked: midYear },
  'gpt-4.1-mini': { input: 0.4, output: 1.6, cacheRead: 0.1, checked: midYear },
  'gpt-4.1-nano': { input: 0.1, output: 0.4, cacheRead: 0.025, checked: midYear },
  'gpt-4o': { input: 2.5, output: 10, cacheRead: 1.25, checked: '2026-05-27' },
  'gpt-4o-mini': { input: 0.15, output: 0.6, cacheRead: 0.075, checked: '2026-05-27' },
  o3: { input: 2, output: 8, cacheRead: 0.5, checked: '2025-07-12' },
  'o3-mini': { input: 1.1, output: 4.4, cacheRead: 0.55, checked: midYear },
  'o4-mini': { input: 1.1, output: 4.4, cacheRead: 0.275, checked: midYear },
};

/** Until the end of 2026; twice as much afterwards. */
const flash = { input: 0.75, output: 3.75, cacheRead: 0.075 };

const gemini: Record<string, Price> = {
  'gemini-3.7-flash': { ...flash, checked: '2026-08-13' },
  'gemini-3.6-flash': { ...flash, checked: '2026-08-13' },
  'gemini-3.5-flash': { input: 1.5, output: 9, cacheRead: 0.15, checked: '2026-05-19' },
  'gemini-3.5-flash-lite': { input: 0.3, output: 2.5, cacheRead: 0.03, checked: '2026-07-22' },
  'gemini-3.1-flash-lite': { input: 0.25, output: 1.5, cacheRead: 0.025, checked: '2026-05-12' },
  'gemini-3.1-pro-preview': {
    input: 2,
    output: 12,
    cacheRead: 0.2,
    long: longGemini,
    checked: '2026-02-23',
  },
  'gemini-3-flash-preview': { input: 0.5, output: 3, cacheRead: 0.05, checked: '2025-12-19' },
  'gemini-2.5-pro': { input: 1.25, output: 10, cacheRead: 0.125, long: longGemini, checked: '2025-10-31' },
  'gemini-2.5-flash': { input: 0.3, output: 2.5, cacheRead: 0.03, checked: '2025-10-31' },
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4, cacheRead: 0.01, checked: '2025-10-31' },
};

/** By `gen_ai.provider.name`, then by the model's name without its date. */
export const prices: Readonly<Record<string, Readonly<Record<string, Price>>>> = {
  anthropic,
  openai,
  'gcp.gemini': gemini,
};
