/** Selects the format of a reply from the destination of its request. */
import type { ProviderFormat, RequestTarget } from '../../agent/calls/model-call.ts';
import { anthropic } from '../../agent/providers/anthropic.ts';
import { bedrock } from '../../agent/providers/bedrock.ts';
import { byBody } from '../../agent/providers/by-body.ts';
import { cohere } from '../../agent/providers/cohere.ts';
import { gemini } from '../../agent/providers/gemini.ts';
import { generic } from '../../agent/providers/generic.ts';
import { mistral } from '../../agent/providers/mistral.ts';
import { ollama } from '../../agent/providers/ollama.ts';
import { openaiChat } from '../../agent/providers/openai-chat.ts';
import { openaiResponses } from '../../agent/providers/openai-responses.ts';
import { vercel } from '../../agent/providers/vercel.ts';
import { anthropicReply } from './anthropic.ts';
import { converseReply, invokeReply } from './bedrock.ts';
import { cohereReply } from './cohere.ts';
import { geminiReply } from './gemini.ts';
import { ollamaChatReply, ollamaGenerateReply } from './ollama.ts';
import { openaiChatReply } from './openai-chat.ts';
import { openaiResponsesReply } from './openai-responses.ts';
import type { ReplyFormat } from './reply.ts';
import { vercelReply } from './vercel.ts';

const formats = new Map<ProviderFormat, ReplyFormat>([
  [openaiChat, openaiChatReply],
  [mistral, openaiChatReply],
  [generic, openaiChatReply],
  [byBody, openaiChatReply],
  [openaiResponses, openaiResponsesReply],
  [anthropic, anthropicReply],
  [gemini, geminiReply],
  [vercel, vercelReply],
]);

/** Undefined for a format whose replies can be read but not produced. */
export function findReplyFormat(format: ProviderFormat, { path }: RequestTarget): ReplyFormat | undefined {
  if (format === ollama) return path.endsWith('/api/generate') ? ollamaGenerateReply : ollamaChatReply;
  if (format === cohere) return path.endsWith('/v2/chat') ? cohereReply : undefined;
  if (format === bedrock) return path.includes('/converse') ? converseReply : invokeReply;
  return formats.get(format);
}
