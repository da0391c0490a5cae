// A model at a port that fetch refuses: no request leaves the process, and only the framework knows of the call.
const [framework] = process.argv.slice(2);
const baseURL = 'http://127.0.0.1:25/v1';

if (framework === 'ai-sdk') {
  const { generateText } = await import('ai');
  const { createOpenAI } = await import('@ai-sdk/openai');
  const model = createOpenAI({ apiKey: 'key', baseURL }).chat('gpt-4o-mini');
  await generateText({ model, prompt: 'How is Oslo?', maxRetries: 0 }).catch(() => {});
} else {
  const { ChatOpenAI } = await import('@langchain/openai');
  const settings = { model: 'gpt-4o-mini', apiKey: 'key', maxRetries: 0, configuration: { baseURL } };
  await new ChatOpenAI(settings).invoke('How is Oslo?').catch(() => {});
}
console.log('went on');
