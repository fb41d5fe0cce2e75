// What `create-next-app` writes.
export default { cacheComponents: true, partialPrefetching: true };
