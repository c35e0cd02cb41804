// Reports each test as a line of JSON, which e2e/browser reads.
import { inspect } from "node:util";

/** fault is why a test failed; a suite fails with its tests, and by itself where one of its hooks does. */
function fault({ type, data }) {
  const { error } = data.details;
  if (type !== "test:fail" || error?.failureType === "subtestsFailed") return "";
  return error?.cause?.stack ?? inspect(error?.cause ?? error);
}

const summary = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /; // of a run, at its end

export default async function* reporter(source) {
  const path = []; // the tests under way, from the outermost
  let last; // what a test has to say comes after its end
  const flush = function* () {
    if (last) yield `result ${JSON.stringify(last)}\n`;
    last = undefined;
  };
  for await (const event of source) {
    const { type, data } = event;
    if (type === "test:start") path.splice(data.nesting, Infinity, data.name);
    if (type === "test:diagnostic" && !summary.test(data.message)) {
      last?.Notes.push(data.message);
      if (data.nesting === 0) console.error(data.message); // of the file, such as what a test left behind
    }
    if (type === "test:pass" || type === "test:fail") {
      yield* flush();
      const error = fault(event);
      if (data.details.type !== "suite" || error)
        last = {
          Name: [...path.slice(0, data.nesting), data.name],
          MS: data.details.duration_ms,
          Error: error,
          Skipped: data.skip !== undefined,
          Notes: [],
        };
    }
  }
  yield* flush();
}
