/**
 * The cost of a model call at list prices, if vendor, model and token counts are known. Only the vendor's own service is
 * priced: other hosts, tiers and batches have different prices.
 */
import type { Attributes } from '../../../journal/layout/agent.ts';
import { type Price, prices } from './price-table.ts';

/**
 * Removes the version: `gpt-4o-2024-08-06` and `claude-3-haiku-20240307` become `gpt-4o` and `claude-3-haiku`; `-latest` too.
 */
const version = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

export interface CallCost {
  usd: number;
  /** The date on which the price was checked. */
  priceOf: string;
}

/** Vendors that include cached input in the input count. Google also counts reasoning tokens separately from the output. */
const cachedAmongInput = new Set(['openai', 'gcp.gemini']);

/** The cost of one call, from its attributes; undefined if a price or a count is unknown. */
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
  const [input, said] = [count('input_tokens'), count('output_tokens')];
  if (input + said === 0) return undefined;
  const [read, written] = [count('cache_read.input_tokens'), count('cache_creation.input_tokens')];
  if ((read && price.cacheRead === undefined) || (written && price.cacheWrite === undefined))
    return undefined;
  const fresh = cachedAmongInput.has(vendor) ? Math.max(0, input - read) : input;
  const output = vendor === 'gcp.gemini' ? said + count('reasoning.output_tokens') : said;
  const { long } = price;
  const isLong = long !== undefined && fresh + read + written > long.aboveTokens;
  const taken = fresh * price.input + read * (price.cacheRead ?? 0) + written * (price.cacheWrite ?? 0);
  const given = output * price.output;
  return (isLong ? taken * long.input + given * long.output : taken + given) / 1e6;
}
