/** Reads what an issue's deaths have had: hosts, Node versions and so on, the most frequent first. */
import type { Counted, Unlisted } from '../../model/fleet/issue.ts';
import type { Query } from './database.ts';
import { type Dimension, dimensions } from './dimensions.ts';

const mostListed = 20;

export interface Names {
  listed: Counted[];
  /** Absent if all are listed. */
  unlisted?: Unlisted;
}

interface NameRow extends Counted {
  dimension: Dimension;
  names: number;
  deaths: number;
  /** Deaths whose names are not known one by one. */
  nameless: number;
}

export async function readNames(query: Query, issue: string): Promise<Record<Dimension, Names>> {
  const rows = await query<NameRow>(
    `select dimension, name, count, names, deaths, nameless from (
       select dimension, name, sum(known.count)::integer as count,
         row_number() over (partition by dimension order by name = '', sum(known.count) desc, name) as place,
         count(*) filter (where name <> '') over (partition by dimension)::integer as names,
         sum(sum(known.count)) over (partition by dimension)::integer as deaths,
         coalesce(sum(sum(known.count)) filter (where name = '') over (partition by dimension), 0)::integer as nameless
       from agentdump_names as known join agentdump_signatures as signature on signature.id = known.signature
       where signature.issue = $1 and known.count > 0 group by dimension, name) as ranked
     where place <= ${mostListed} order by dimension, place`,
    [issue],
  );
  return Object.fromEntries(
    dimensions.map((wanted) => [wanted, namesOf(rows.filter(({ dimension }) => dimension === wanted))]),
  ) as Record<Dimension, Names>;
}

function namesOf(rows: readonly NameRow[]): Names {
  const listed = rows.flatMap(({ name, count }) => (name === '' ? [] : [{ name, count }]));
  const { names = 0, deaths = 0, nameless = 0 } = rows[0] ?? {};
  const count = deaths - listed.reduce((sum, one) => sum + one.count, 0);
  if (count === 0) return { listed };
  const isAtLeast = nameless > 0;
  return {
    listed,
    unlisted: {
      names: names - listed.length + Number(isAtLeast),
      count,
      ...(isAtLeast && { isAtLeast: true }),
    },
  };
}
