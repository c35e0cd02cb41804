/** Failure is a row of an action that failed. */
export interface Failure<T> {
  row: T;
  error: unknown;
}

const together = 3;

/** runAll does an action for rows, some at a time. Once `stop` says so, it begins no further one. */
export async function runAll<T>(
  rows: T[],
  run: (row: T) => Promise<void>,
  progress: (done: number, failures: Failure<T>[]) => void,
  stop: () => boolean,
): Promise<void> {
  const failures: Failure<T>[] = [];
  let next = 0,
    done = 0;
  const work = async () => {
    while (next < rows.length && !stop()) {
      const row = rows[next++]!;
      try {
        await run(row);
      } catch (error) {
        failures.push({ row, error });
      }
      progress(++done, [...failures]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(together, rows.length) }, work));
}
