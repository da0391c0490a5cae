/**
 * The formats in the order in which they are tried: those identified by a host or path before those that many hosts share.
 */

import type { ProviderFormat, RequestTarget } from '../calls/model-call.ts';
import { BoundedMap } from '../record/bounded-map.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { byBody } from './by-body.ts';
import { cohere } from './cohere.ts';
import { gemini } from './gemini.ts';
import { generic } from './generic.ts';
import { mistral } from './mistral.ts';
import { ollama } from './ollama.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import { vercel } from './vercel.ts';

export const formats: readonly ProviderFormat[] = [
  openaiChat,
  openaiResponses,
  anthropic,
  gemini,
  bedrock,
  mistral,
  ollama,
  cohere,
  vercel,
  generic,
  byBody,
];

/** A cache, because a program calls the same few addresses again and again, most of which are not models. */
const known = new BoundedMap<ProviderFormat | null>(200);

/** The format that a request to this address may have. Its body may still turn out not to match. */
export function findFormat(target: RequestTarget): ProviderFormat | undefined {
  const place = `${target.host} ${target.path}`;
  let format = known.get(place);
  if (format === undefined) {
    format = formats.find((one) => one.matches(target)) ?? null;
    known.set(place, format);
  }
  return format ?? undefined;
}
