/** The formats in the order of trial: those that a host or path names before the ones that many share. */

import type { ProviderFormat, RequestTarget } from '../calls/model-call.ts';
import { BoundedMap } from '../record/bounded-map.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
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
];

/** A program asks the same few places again and again, and most are no model's. */
const known = new BoundedMap<ProviderFormat | null>(200);

/** The format that a request to this place may have; its body may still say otherwise. */
export function findFormat(target: RequestTarget): ProviderFormat | undefined {
  const place = `${target.host} ${target.path}`;
  let format = known.get(place);
  if (format === undefined) {
    format = formats.find((one) => one.matches(target)) ?? null;
    known.set(place, format);
  }
  return format ?? undefined;
}
