// An unhandled rejection under the Agents SDK, whose own handler decides by the number of listeners.
import { getGlobalTraceProvider } from '@openai/agents';

getGlobalTraceProvider();
const counts = ['SIGINT', 'SIGTERM', 'unhandledRejection'].map((event) => process.listenerCount(event));
console.log('LISTENERS', counts.join(' '));
setTimeout(() => console.log('STILL ALIVE'), 1500);
Promise.reject(new Error('nobody cares'));
