/**
 * What model calls cost, where it is known. List prices in US dollars a million tokens, read off the vendors' public price
 * pages by way of the genai-prices collection (github.com/pydantic/genai-prices), each with the day it was checked there.
 * Only the vendor's own service and only these names are priced: another host, tier or batch has other prices.
 */
import type { Attributes } from '../../journal/layout-agent.ts';

interface Price {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  /** The day the price was checked. */
  checked: string;
}

const midYear = '2025-07-04';
const november = '2025-11-13';

const prices: Record<string, Record<string, Price>> = {
  openai: {
    'gpt-4o': { input: 2.5, cacheRead: 1.25, output: 10, checked: midYear },
    'gpt-4o-mini': { input: 0.15, cacheRead: 0.075, output: 0.6, checked: midYear },
    'gpt-4.1': { input: 2, cacheRead: 0.5, output: 8, checked: midYear },
    'gpt-4.1-mini': { input: 0.4, cacheRead: 0.1, output: 1.6, checked: midYear },
    'gpt-4.1-nano': { input: 0.1, cacheRead: 0.025, output: 0.4, checked: midYear },
    'gpt-5': { input: 1.25, cacheRead: 0.125, output: 10, checked: november },
    'gpt-5-mini': { input: 0.25, cacheRead: 0.025, output: 2, checked: november },
    'gpt-5-nano': { input: 0.05, cacheRead: 0.005, output: 0.4, checked: november },
    'gpt-5.1': { input: 1.25, cacheRead: 0.125, output: 10, checked: november },
    o3: { input: 2, cacheRead: 0.5, output: 8, checked: '2025-07-12' },
    'o3-mini': { input: 1.1, cacheRead: 0.55, output: 4.4, checked: midYear },
    'o4-mini': { input: 1.1, cacheRead: 0.275, output: 4.4, checked: midYear },
  },
  anthropic: {
    'claude-3-5-haiku': { input: 0.8, cacheRead: 0.08, cacheWrite: 1, output: 4, checked: '2025-06-22' },
    'claude-3-haiku': { input: 0.25, cacheRead: 0.03, cacheWrite: 0.3, output: 1.25, checked: '2025-06-23' },
  },
};

/** `gpt-4o-2024-08-06` and `claude-3-haiku-20240307` are `gpt-4o` and `claude-3-haiku`; `-latest` too. */
const version = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

export interface CallCost {
  usd: number;
  /** The day the price was checked. */
  priceOf: string;
}

/** Of one call, from its attributes; undefined where a price or a count is not known. */
export function computeCost(attributes: Attributes): CallCost | undefined {
  const vendor = attributes['gen_ai.provider.name'];
  const model = attributes['gen_ai.response.model'] ?? attributes['gen_ai.request.model'];
  if (typeof vendor !== 'string' || typeof model !== 'string' || !Object.hasOwn(prices, vendor))
    return undefined;
  const table = prices[vendor] ?? {};
  const name = model.replace(version, '');
  const price = Object.hasOwn(table, name) ? table[name] : undefined;
  const usd = price && sum(vendor, price, attributes);
  return usd === undefined ? undefined : { usd, priceOf: price?.checked ?? '' };
}

function sum(vendor: string, price: Price, attributes: Attributes): number | undefined {
  const count = (name: string): number => {
    const value = attributes[`gen_ai.usage.${name}`];
    return typeof value === 'number' && value >= 0 ? value : 0;
  };
  const [input, output] = [count('input_tokens'), count('output_tokens')];
  if (input + output === 0) return undefined;
  const [read, written] = [count('cache_read.input_tokens'), count('cache_creation.input_tokens')];
  if ((read && price.cacheRead === undefined) || (written && price.cacheWrite === undefined))
    return undefined;
  // OpenAI counts what came from its cache among the input, Anthropic beside it.
  const fresh = vendor === 'openai' ? Math.max(0, input - read) : input;
  const cached = read * (price.cacheRead ?? 0) + written * (price.cacheWrite ?? 0);
  return (fresh * price.input + cached + output * price.output) / 1e6;
}
