/** Computes a constant of this process on first use. */
export function lazyConstant<T>(lookUp: () => T): () => T {
  let found: { readonly value: T } | undefined;
  return () => {
    found ??= { value: lookUp() };
    return found.value;
  };
}
