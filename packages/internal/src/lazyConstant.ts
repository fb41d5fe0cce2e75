/** A constant of this process that is looked up when it is first needed, and never again. */
export function lazyConstant<T>(lookUp: () => T): () => T {
  let found: { readonly value: T } | undefined;
  return () => {
    found ??= { value: lookUp() };
    return found.value;
  };
}
