import type { NextConfig } from "next";

// What `create-next-app` writes.
const nextConfig: NextConfig = { cacheComponents: true, partialPrefetching: true };

export default nextConfig;
