/** What the model says to the research agent of the screenshots. */
import type { ScriptedReply } from '../agents/mock-model-server.ts';

const search = (query: string) => ({ name: 'web_search', arguments: { query } });
const read = (page: string) => ({ name: 'read_page', arguments: { url: `https://example.org/${page}` } });
const claim = { name: 'check_claim', arguments: { claim: 'The front has retreated since 2019' } };

/** The model's answers, turn by turn. */
export const replies: ScriptedReply[] = [
  {
    text: 'I will look for measurements first, then for projections, and check each claim before I write.',
    toolCalls: [search('Larsen C area loss 2017–2024')],
    frames: 14,
    frameDelayMs: 45,
  },
  {
    toolCalls: [read('larsen-c-mass-balance'), read('basal-melt-2024'), search('Larsen C ISMIP6')],
    frames: 6,
    frameDelayMs: 60,
  },
  { toolCalls: [read('a68-iceberg')], frames: 5, frameDelayMs: 50 },
  { text: 'Larsen C lost about a tenth of its area in one event.', frames: 5, frameDelayMs: 40 },
  {
    text: 'Two sources agree on the area; the rate comes next.',
    toolCalls: [search('Larsen C thinning rate')],
    frames: 12,
    frameDelayMs: 40,
  },
  {
    text: 'Checking the claim now.',
    toolCalls: [claim, read('front-position')],
    frames: 12,
    frameDelayMs: 40,
  },
];
