interface DescribingTool<Description> {
  readonly name: string;
  describeCall?(
    args: Record<string, unknown>,
    options: { readonly signal: AbortSignal },
  ): Description | Promise<Description>;
}

/** The description of a call by a tool that describes its calls synchronously. */
export function describeNow<Description>(
  tool: DescribingTool<Description>,
  args: Record<string, unknown>,
): Description {
  const described = tool.describeCall?.(args, { signal: new AbortController().signal });
  if (described === undefined || described instanceof Promise) {
    throw new Error(`${tool.name} does not describe its calls synchronously.`);
  }
  return described;
}
