// An agent on plain fetch that asks a model, runs its tool, and reads the answer as JSON. AGENT_PROMPT changes what it
// asks; the marked line is what a fix changes.
const url = `${process.env.MODEL_URL}/v1/chat/completions`;
const messages = [{ role: 'user', content: process.env.AGENT_PROMPT ?? 'How is Oslo?' }];
const tools = [{ type: 'function', function: { name: 'get_weather', parameters: {} } }];

async function ask() {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.MODEL_API_KEY}` },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages, tools }),
  });
  return (await response.json()).choices[0].message;
}

const cities = { Oslo: { degrees: 3 } };
function weather({ city }) {
  return `${cities[city].degrees} degrees`; // the fault
}

for (;;) {
  const message = await ask();
  messages.push(message);
  if (!message.tool_calls?.length) {
    console.log('ANSWER', message.content);
    break;
  }
  for (const call of message.tool_calls)
    messages.push({
      role: 'tool',
      tool_call_id: call.id,
      content: weather(JSON.parse(call.function.arguments)),
    });
}
