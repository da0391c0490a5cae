/**
 * Executes what is asked for while an earlier question is being answered together with all that has gathered, so that a
 * database that is busy answers many at a time. For questions that may be asked twice.
 */

const mostAtOnce = 64;

interface Asked<Item, Answer> {
  item: Item;
  answer: (answer: Answer) => void;
  fail: (error: unknown) => void;
}

/**
 * @param work answers several items, in their order. @returns a function that answers one; each host (a database) has its own
 * queue. If several fail together, each is tried alone, so that one can't be the trouble of the others.
 */
export function together<Host extends object, Item, Answer>(
  work: (host: Host, items: readonly Item[]) => Promise<readonly Answer[]>,
): (host: Host, item: Item) => Promise<Answer> {
  const queues = new WeakMap<Host, Asked<Item, Answer>[]>();

  const settle = async (host: Host, asked: readonly Asked<Item, Answer>[]): Promise<void> => {
    try {
      const answers = await work(
        host,
        asked.map(({ item }) => item),
      );
      asked.forEach(({ answer }, at) => {
        answer(answers[at]!);
      });
    } catch (error) {
      if (asked.length === 1) asked[0]?.fail(error);
      else for (const one of asked) await settle(host, [one]);
    }
  };

  const serve = async (host: Host, waiting: Asked<Item, Answer>[]): Promise<void> => {
    while (waiting.length > 0) await settle(host, waiting.splice(0, mostAtOnce));
    queues.delete(host);
  };

  return (host, item) =>
    new Promise((answer, fail) => {
      const asked = { item, answer, fail };
      const waiting = queues.get(host);
      if (waiting) waiting.push(asked);
      else {
        const queue = [asked];
        queues.set(host, queue);
        void serve(host, queue);
      }
    });
}
