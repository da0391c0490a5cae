/** `agentdump approve <run> <name>`. */
import { answerCommand } from './answer-question.ts';

export default answerCommand('approve', 'Approve a request that a durable run waits for');
