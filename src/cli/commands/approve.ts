/** `agentdump approve <run> <name>`. */
import { answerCommand } from '../answer-command.ts';

export default answerCommand('approve', 'Answer yes to a durable run that waits for an approval');
