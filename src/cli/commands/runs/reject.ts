/** `agentdump reject <run> <name>`. */
import { answerCommand } from './answer-question.ts';

export default answerCommand('reject', 'Reject a request that a durable run waits for');
