/** `agentdump reject <run> <name>`. */
import { answerCommand } from '../answer-command.ts';

export default answerCommand('reject', 'Answer no to a durable run that waits for an approval');
