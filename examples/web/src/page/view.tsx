import type { FileDiff, ResultView } from "@agent/core";

/** Changes of files, for a result or for a question: each line begins with its sign. */
export function Diff({ files }: { readonly files: readonly FileDiff[] }) {
  return files.map((file) => (
    <figure key={file.path}>
      <figcaption>
        {file.oldPath === undefined ? file.path : `${file.oldPath} → ${file.path}`} {file.change}, +
        {file.added} −{file.removed}
      </figcaption>
      <pre className="output">
        {file.hunks.flatMap(({ newStart, lines }) =>
          lines.map((line, index) => (
            <span
              key={`${newStart} ${index}`}
              className={line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : undefined}
            >
              {line}
              {"\n"}
            </span>
          )),
        )}
      </pre>
      {file.more !== undefined && <small>{file.more} more lines are not shown</small>}
    </figure>
  ));
}

/** Renders a result by its view. The page does not need to know the tool. */
export function View({ view }: { readonly view: ResultView }) {
  switch (view.type) {
    case "diff":
      return <Diff files={view.files} />;
    case "code":
    case "markdown":
      return <pre className="output">{view.text}</pre>;
    case "output":
      return (
        <pre className="output">
          {view.text}
          {view.exitCode === undefined || view.exitCode === 0 ? "" : `\n[exit code ${view.exitCode}]`}
        </pre>
      );
    case "list":
      return (
        <ul>
          {view.items.map(({ text, path, line }, index) => (
            <li key={index}>
              {path !== undefined && path !== text && (
                <small>{line === undefined ? path : `${path}:${line}`} </small>
              )}
              {text}
            </li>
          ))}
        </ul>
      );
    case "table":
      return (
        <table>
          <thead>
            <tr>
              {view.columns.map((name) => (
                <th key={name}>{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {view.rows.map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => (
                  <td key={column}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      );
    case "fields":
      return (
        <dl>
          {view.fields.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      );
  }
}
