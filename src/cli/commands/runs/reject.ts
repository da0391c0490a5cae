/** `agentdump reject <run> <name>`. */
import { answerCommand } from '../../answer-command.ts';

export default answerCommand('reject', 'Reject a request that a durable run waits for');
