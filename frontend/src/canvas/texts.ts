import type { Role } from "../graph/catalogue";
import type { Refusal } from "../graph/connect";
import { texts } from "../ui/i18n";

export const t = texts({
  en: {
    canvas: "Topology",
    inputPort: "Input {name}, {role}",
    outputPort: "Output {name}, {role}",
    storePort: "Connect to the node that uses this store",
    stream: "stream",
    table: "table",
    windowed_table: "windowed table",
    global_table: "global table",
    store: "store",
    late: "late",
    droppedShort: "dropped",
    deadShort: "dead",
    lostShort: "lost",
    lostTitle: "{n} records that the broker deleted before they were read",
    deadLetters: "dead letters",
    lag: "lag",
    lagTitle: "{n} records not yet read",
    outTitle: "Records out per second",
    total: "in all",
    task: "Task",
    tasks: "{n} {n|task|tasks}",
    tasksShort: "{n} {n|task|tasks}",
    rows: "{n} {n|row|rows}",
    errors: "{n} {n|error|errors}",
    warnings: "{n} {n|warning|warnings}",
    unknownKind: "Unknown kind {kind}",
    shuffle:
      "Records are shuffled here: they go through a repartition topic to the task of their key",
    topicOf: "{name} · {n} {n|partition|partitions}",
    keyChanged: "The key changed: the next node that works by key will shuffle",
    subtopology: "Sub-topology {id} · {n} {n|task|tasks}",
    itself: "A node cannot feed itself",
    not_an_input: "Wires go from an output to an input",
    exists: "This edge is already there",
    taken: "{port} already has its input; delete that edge first",
    cycle: "This would make a circle; go through a topic instead",
    role: "Needs a {needs}, this is a {found}",
    roleToTable: "Needs a {needs}, this is a stream: put “To table” between",
    roleToStream: "Needs a stream, this is a {found}: put “To stream” between",
    not_a_store: "Only a store can be connected here",
    store_only_below: "A store connects to the port below a node that keeps state",
    store_kind: "Does not take this kind of store; it takes {needs}",
    or: "or",
    runs_stream_task: "stream task",
    runs_python: "Python stage",
    incomplete: "{n} {n|thing|things} to fill in",
    design: "Design",
    plan: "Plan",
    runtime: "Runtime",
    layers: "Layer",
    planMissing: "The plan appears when the topology compiles",
    runtimeMissing: "Live figures appear while this topology runs",
    failedHere: "The deployment failed here: {why}",
    simulatedTitle: "{n} records in the simulation",
    ended: "{n} ended",
    endedHere: "{n} {n|record|records} of the simulation ended here",
    heat: "Heat",
    heat_none: "No heat",
    heat_rate: "Heat: rate",
    heat_lag: "Heat: lag",
    heat_dropped: "Heat: dropped",
    heat_rows: "Heat: state",
    stale: "Figures are {span} old",
    lastKnown: "Last known figures",
    undo: "Undo",
    redo: "Redo",
    zoomIn: "Zoom in",
    zoomOut: "Zoom out",
    fit: "Show everything",
    arrange: "Arrange automatically",
    edgeTypes: "Show types on all edges",
    minimap: "Minimap",
    emptyTitle: "Start with where records come from",
    emptyText:
      "Drag a source from the palette, or add one here. Then pull an edge from its port to add what comes next.",
    emptyAction: "Add a stream from a topic",
    emptyHint: "N adds a node, Ctrl K finds every command",
    moved: "Move {n} {n|node|nodes}",
    inserted: "Insert into edge",
    connect: "Connect",
    reconnect: "Reconnect",
    search: "Search or describe",
    addHere: "Add a node",
    nothingFits: "Nothing fits here by that name",
    add: "Add",
    editedBy: "{names} {n|is|are} editing this node",
  },
  zh: {
    canvas: "拓扑",
    inputPort: "输入 {name}，{role}",
    outputPort: "输出 {name}，{role}",
    storePort: "连接到使用此存储的节点",
    stream: "流",
    table: "表",
    windowed_table: "窗口表",
    global_table: "全局表",
    store: "存储",
    late: "迟到",
    droppedShort: "丢弃",
    deadShort: "死信",
    lostShort: "丢失",
    lostTitle: "{n} 条记录在读取前已被 broker 删除",
    deadLetters: "死信",
    lag: "延迟",
    lagTitle: "{n} 条记录尚未读取",
    outTitle: "每秒输出记录数",
    total: "总计",
    task: "任务",
    tasks: "{n} 个任务",
    tasksShort: "{n} 任务",
    rows: "{n} 行",
    errors: "{n} 个错误",
    warnings: "{n} 个警告",
    unknownKind: "未知类型 {kind}",
    shuffle: "记录在此重新分区：经由重分区主题到达其键所属的任务",
    topicOf: "{name} · {n} 个分区",
    keyChanged: "键已改变：下一个按键处理的节点会重新分区",
    subtopology: "子拓扑 {id} · {n} 个任务",
    itself: "节点不能连接自身",
    not_an_input: "连线从输出到输入",
    exists: "该连线已存在",
    taken: "{port} 已有输入，请先删除那条连线",
    cycle: "这会形成环路，请改经主题",
    role: "需要{needs}，这里是{found}",
    roleToTable: "需要{needs}，这里是流：中间加入“转为表”",
    roleToStream: "需要流，这里是{found}：中间加入“转为流”",
    not_a_store: "此处只能连接存储",
    store_only_below: "存储连接到有状态节点下方的端口",
    store_kind: "不接受这种存储，可用：{needs}",
    or: "或",
    runs_stream_task: "流任务",
    runs_python: "Python 阶段",
    incomplete: "还需填写 {n} 项",
    design: "设计",
    plan: "计划",
    runtime: "运行",
    layers: "图层",
    planMissing: "拓扑编译通过后显示计划",
    runtimeMissing: "运行时显示实时数据",
    failedHere: "部署在此处失败：{why}",
    simulatedTitle: "模拟中有 {n} 条记录",
    ended: "{n} 条结束",
    endedHere: "模拟中有 {n} 条记录在此结束",
    heat: "热度",
    heat_none: "不显示热度",
    heat_rate: "热度：速率",
    heat_lag: "热度：延迟",
    heat_dropped: "热度：丢弃",
    heat_rows: "热度：状态",
    stale: "数据已过去 {span}",
    lastKnown: "最后已知的数据",
    undo: "撤销",
    redo: "重做",
    zoomIn: "放大",
    zoomOut: "缩小",
    fit: "显示全部",
    arrange: "自动布局",
    edgeTypes: "在所有连线上显示类型",
    minimap: "缩略图",
    emptyTitle: "从数据来源开始",
    emptyText: "从组件面板拖入一个来源，或在此添加；然后从端口拉出连线，添加下一步。",
    emptyAction: "添加主题流",
    emptyHint: "N 添加节点，Ctrl K 查找所有命令",
    moved: "移动 {n} 个节点",
    inserted: "插入连线",
    connect: "连接",
    reconnect: "重新连接",
    search: "搜索或描述",
    addHere: "添加节点",
    nothingFits: "没有合适的组件",
    add: "添加",
    editedBy: "{names} 正在编辑此节点",
  },
});

const ROLES = new Set(["stream", "table", "windowed_table", "global_table", "store"]);

export function roleText(role: Role): string {
  return ROLES.has(role) ? t(role as "stream") : role.replaceAll("_", " ");
}

/** How a node runs, in words; a way that this page does not know by its own name. */
export function runsText(way: string): string {
  if (way === "stream_task") return t("runs_stream_task");
  return way === "python" ? t("runs_python") : way;
}

/** Why an edge does not fit, and what would. */
export function refusalText(reason: Refusal): string {
  if (reason.code === "taken") return t("taken", { port: reason.port });
  if (reason.code === "store_kind") {
    return t("store_kind", {
      needs: reason.needs.map((kind) => kind.slice(6).replaceAll("_", " ")).join(", "),
    });
  }
  if (reason.code !== "role") return t(reason.code);
  const asked = reason.needs.includes("table")
    ? reason.needs.filter((role) => role !== "windowed_table")
    : reason.needs;
  const needs = asked.map(roleText).join(` ${t("or")} `);
  if (reason.found === "stream" && reason.needs.includes("table"))
    return t("roleToTable", { needs });
  if (reason.found.includes("table") && reason.needs.includes("stream")) {
    return t("roleToStream", { found: roleText(reason.found) });
  }
  return t("role", { needs, found: roleText(reason.found) });
}
