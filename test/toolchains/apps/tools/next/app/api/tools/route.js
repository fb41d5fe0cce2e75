import { runTools } from "../../../tools.mjs";

export const dynamic = "force-dynamic";

export async function GET() {
  return new Response(await runTools());
}
