import { useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useMemo, useState } from "react";
import { useParams, useSearchParams } from "react-router";
import { compileDocument } from "../api/compileCalls";
import { createFragment, listFragments } from "../api/fragmentCalls";
import { type Connection, subscribe } from "../api/live";
import { requireSimulator } from "../api/starting";
import {
  jsonSamples,
  knownSchemas,
  listTopics,
  sampleTopic,
  topicFacts,
  tryExpression,
} from "../api/topicCalls";
import { createVersion, getCatalog, getDraft, getTopology, getVersion } from "../api/topologyCalls";
import { offerTour } from "../commands/guides";
import { useChange } from "../deployments/change";
import { useScheduling } from "../deployments/schedule";
import {
  useDeleting,
  usePromoting,
  useScaling,
  useShadowing,
  useStarting,
} from "../deployments/steps";
import { outerNode } from "../designer/fragmentFigures";
import { placed } from "../designer/placing";
import type { DesignerServices } from "../designer/services";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { topicAddress } from "../frame/addresses";
import { Loading } from "../frame/Loading";
import { may, useSession, useWorkspace } from "../frame/session";
import { useTitle } from "../frame/useTitle";
import { Waiting } from "../frame/Waiting";
import { WholePage } from "../frame/WholePage";
import { emptyDocument, readDocument } from "../graph/document";
import type { PinnedRecord } from "../graph/pins";
import { useLive } from "../live/store";
import { NodeRuntime } from "../runtime/NodeRuntime";
import { useRuntimeFeed } from "../runtime/running";
import { VersionNote } from "../runtime/VersionNote";
import { t, useLanguage } from "../ui/i18n";
import { later, useRest } from "../ui/later";
import {
  beginEditing,
  draftIsDirty,
  endEditing,
  flushDraft,
  lastFlush,
  openParameters,
  retryDraft,
  useEditing,
} from "../versions/editing";
import Designer from "../workbench/Designer";
import { Banner } from "./Banner";
import { bottomTabs } from "./bottomTabs";
import { HeaderLeft, HeaderRight } from "./Header";
import { rememberWorkspace } from "./HomePage";
import { usePageCommands } from "./pageCommands";
import { useCursorFeed, usePresenceFeed } from "./usePresence";

const StartDialog = later(async () => (await import("../deployments/StartDialog")).StartDialog);
const ShadowDialog = later(async () => (await import("../deployments/ShadowDialog")).ShadowDialog);
const ScheduleDialog = later(
  async () => (await import("../deployments/ScheduleDialog")).ScheduleDialog,
);
const DeleteDeploymentDialog = later(
  async () => (await import("../deployments/DeleteDeploymentDialog")).DeleteDeploymentDialog,
);
const ScaleDialog = later(async () => (await import("../deployments/ScaleDialog")).ScaleDialog);
const ChangeDialog = later(async () => (await import("../deployments/ChangeDialog")).ChangeDialog);
const PromoteDialog = later(
  async () => (await import("../deployments/PromoteDialog")).PromoteDialog,
);
const ConflictDialog = later(async () => (await import("./ConflictDialog")).ConflictDialog);
const ParametersDialog = later(
  async () => (await import("../inspector/ParametersDialog")).ParametersDialog,
);
const ImportDialog = later(async () => (await import("./ImportDialog")).ImportDialog);
const SaveDialog = later(async () => (await import("./SaveDialog")).SaveDialog);
const CommentsFeed = later(async () => (await import("../comments/CommentsFeed")).CommentsFeed);
const VersionsTab = later(async () => (await import("./VersionsTab")).VersionsTab);

/** Loads everything that the designer needs to open. */
async function load(id: number) {
  // A visit that has just ended may still be sending its last change.
  await lastFlush();
  const [topology, draft, catalog] = await Promise.all([
    getTopology(id),
    getDraft(id),
    getCatalog(),
  ]);
  const base = draft.base_version;
  const saved = base === null ? null : (await getVersion(id, base)).document;
  const [document, baseDocument] = await Promise.all([
    placed(readDocument(draft.document) ?? emptyDocument(topology.name), catalog),
    saved && placed(saved, catalog),
  ]);
  return { topology, document, revision: draft.revision, base, baseDocument, catalog };
}

/** Listens to a topology, and of several deployments to the shown one: at first the one that is asked for. */
function useLiveFeed(id: number, ready: boolean, asked: number | null) {
  const shown = useLive((state) =>
    state.deployments.length > 1 ? (state.deployment?.id ?? null) : null,
  );
  const deployment = shown ?? asked;
  useEffect(() => {
    useLive.getState().reset();
    return () => useLive.getState().reset();
  }, []);
  useEffect(() => {
    if (!ready) return;
    const { receive, setConnection } = useLive.getState();
    const one = deployment === null ? "" : `&deployment=${deployment}`;
    const connected = (connection: Connection) => {
      setConnection(connection);
      if (connection === "open") retryDraft();
    };
    const subscription = subscribe(`/api/live?topology=${id}${one}`, receive, connected);
    return () => subscription.close();
  }, [id, ready, deployment]);
}

/** Opens the node at which the deployment fails, once per failure. */
function useGoToFailure() {
  useEffect(() => {
    let notified: string | null = null;
    let opened = false;
    return useLive.subscribe(({ topology, deployment }) => {
      if (topology === null) return;
      const failure = deployment?.failure ?? null;
      const key =
        deployment === null || failure === null
          ? null
          : `${deployment.id}/${deployment.run?.id}/${failure.code}/${failure.message}`;
      // A failure from before the page was opened is shown by the banner only; the view does not move.
      const news = opened && key !== null && key !== notified;
      opened = true;
      notified = key;
      if (news && failure?.node != null) {
        const { goTo, result } = useDesigner.getState();
        goTo(outerNode(result?.fragments, failure.node), failure.parameter);
      }
    });
  }, []);
}

/** Name of the topology that `./millrace up` deploys. */
const SAMPLE = "Word count";

/** Offers the tour when the sample is opened while it runs. */
function useTourOfSample(name: string) {
  useEffect(() => {
    if (name !== SAMPLE) return;
    const stop = useLive.subscribe(({ topology, deployment }) => {
      if (topology === null) return;
      stop();
      if (deployment?.desired === "running") offerTour();
    });
    return stop;
  }, [name]);
}

function useKeepDraft() {
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      if (!draftIsDirty()) return;
      void flushDraft();
      // The browser asks only if the last change has not reached the server yet.
      event.preventDefault();
    };
    const hide = () => {
      if (document.visibilityState === "hidden") void flushDraft();
    };
    addEventListener("beforeunload", leave);
    addEventListener("online", retryDraft);
    document.addEventListener("visibilitychange", hide);
    return () => {
      removeEventListener("online", retryDraft);
      removeEventListener("beforeunload", leave);
      document.removeEventListener("visibilitychange", hide);
    };
  }, []);
}

export function TopologyPage() {
  const { ws = "", id: idText = "" } = useParams();
  const id = Number(idText);
  const workspace = useWorkspace(ws);
  const loaded = useQuery({
    queryKey: ["topology", id],
    queryFn: () => load(id),
    // From here on, the designer owns the document, which must not be replaced by a refetch.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (loaded.isPending || loaded.isError) {
    return (
      <WholePage>
        <Waiting query={loaded} gone={{ to: `/w/${ws}`, text: t("Go to the topologies") }} />
      </WholePage>
    );
  }
  return <Opened key={id} ws={ws} data={loaded.data} role={workspace?.role} />;
}

type Loaded = Awaited<ReturnType<typeof load>>;

/** Keeps the topology open: document, draft, events. A change of language remounts only its view. */
function Opened(props: { ws: string; data: Loaded; role: Parameters<typeof may>[0] }) {
  const { ws, data, role } = props;
  const { topology } = data;
  const editor = may(role, "editor");
  const me = useSession().data?.user?.id ?? 0;
  const [search] = useSearchParams();
  const layer = search.get("layer");
  const commented = search.get("comments");
  const asked = Number(search.get("deployment")) || null;
  const [ready, setReady] = useState(false);
  const language = useLanguage();
  const { name } = useEditing();

  useEffect(() => {
    useDesigner.getState().setReadOnly(!editor);
  }, [editor]);

  useEffect(() => {
    rememberWorkspace(ws);
    useDesigner.getState().open({
      topologyId: topology.id,
      document: data.document,
      catalog: data.catalog,
      isFragment: topology.is_fragment,
    });
    beginEditing({
      user: me,
      ws,
      topology: topology.id,
      name: topology.name,
      document: data.document,
      revision: data.revision,
      baseVersion: data.base,
      baseDocument: data.baseDocument,
    });
    setReady(true);
    return () => {
      endEditing();
      useDesigner.getState().close();
    };
  }, [ws, topology, data, me]);

  useEffect(() => {
    if (layer === "plan" || layer === "runtime") useDesigner.getState().setLayer(layer);
  }, [layer]);

  useEffect(() => {
    if (!ready || commented === null) return;
    useView.getState().openBottom("comments");
    useDesigner.getState().goTo(commented, null);
  }, [ready, commented]);

  useTitle(name || topology.name);

  const several = topology.deployments.length > 1;
  useLiveFeed(topology.id, ready, asked ?? (several ? (topology.deployment?.id ?? null) : null));
  useRuntimeFeed(ws, topology.id);
  usePresenceFeed(topology.id, me, editor);
  useCursorFeed(topology.id, editor);
  useGoToFailure();
  useTourOfSample(topology.name);
  useKeepDraft();

  if (!ready)
    return (
      <WholePage>
        <Loading />
      </WholePage>
    );
  return <View key={language} ws={ws} data={data} role={role} />;
}

function View({ ws, data, role }: Parameters<typeof Opened>[0]) {
  const { topology, catalog } = data;
  const editor = may(role, "editor");
  const operator = may(role, "operator");
  const { conflict, dialog } = useEditing();
  const asked = useChange((state) => state.asked);
  const starting = useStarting((state) => state.open);
  const scaling = useScaling((state) => state.open);
  const scheduling = useScheduling((state) => state.open);
  const deleting = useDeleting((state) => state.open);
  const shadowing = useShadowing((state) => state.open);
  const proposal = usePromoting((state) => state.proposal);
  usePageCommands({ editor, operator, topology: topology.id, ws });
  useRest();
  useEffect(() => useDesigner.getState().setCatalog(catalog), [catalog]);

  const services = useMemo<DesignerServices>(
    () => ({
      compile: (document, revision, signal, dialect) =>
        compileDocument(ws, document, revision, signal, dialect),
      topics: () => listTopics(ws),
      samples: (topic, side) => jsonSamples(ws, topic, side),
      schemas: (topic, side) => knownSchemas(ws, topic, side, topology.id),
      latest: async (topic, formats) => {
        // A request for one that does not exist would be an error in the console.
        if (!(await listTopics(ws)).some(({ name }) => name === topic)) return [];
        const asked = { count: 5, start: "latest", headers: true, ...formats } as const;
        return (await sampleTopic(ws, topic, asked)).lines as unknown as readonly PinnedRecord[];
      },
      tryExpression: async (asked, signal) => {
        await requireSimulator(ws);
        return (await tryExpression(ws, asked, signal)).values;
      },
      topicFacts: (topic) => topicFacts(ws, topic),
      topicAddress: (topic) => topicAddress(ws, topic),
      fragments: (search) => listFragments(ws, search),
      fragment: async (id, version) => {
        const found = readDocument((await getVersion(id, version)).document);
        return found ?? emptyDocument("");
      },
      createFragment: (name, document) => createFragment(ws, name, document),
      saveFragment: async (id, base, document) => {
        const message = t("From {topology}", { topology: topology.name });
        const version = { document, message, base_version: base, draft_revision: null };
        return (await createVersion(id, version)).number;
      },
      topologyAddress: (id) => `/w/${ws}/t/${id}`,
    }),
    [ws, topology.id, topology.name],
  );
  const bottom = useMemo(
    () => bottomTabs(ws, topology.id, { editor, operator }),
    [ws, topology.id, editor, operator],
  );

  return (
    <>
      <Designer
        services={services}
        header={{
          left: <HeaderLeft ws={ws} editor={editor} operator={operator} />,
          right: <HeaderRight ws={ws} editor={editor} operator={operator} />,
        }}
        versions={<VersionsTab topology={topology.id} editor={editor} operator={operator} />}
        bottom={bottom}
        banner={
          <>
            <Banner editor={editor} />
            <VersionNote />
          </>
        }
        nodeRuntime={NodeRuntime}
      />
      <Suspense>
        <CommentsFeed topology={topology.id} />
        {dialog === "save" ? <SaveDialog /> : null}
        {dialog === "import" ? <ImportDialog ws={ws} /> : null}
        {dialog === "parameters" ? (
          <ParametersDialog onClose={() => openParameters(false)} />
        ) : null}
        {conflict === null ? null : <ConflictDialog conflict={conflict} />}
        {starting ? <StartDialog /> : null}
        {scaling ? <ScaleDialog /> : null}
        {scheduling ? <ScheduleDialog /> : null}
        {deleting ? <DeleteDeploymentDialog /> : null}
        {shadowing ? <ShadowDialog /> : null}
        {proposal === null ? null : <PromoteDialog proposal={proposal} />}
        {asked === null ? null : <ChangeDialog key={asked.plan.version} {...asked} />}
      </Suspense>
    </>
  );
}
