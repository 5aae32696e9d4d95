/** Chinese titles and help of fragments and their ports, which the compiler's catalog does not have. */

export const parts: Readonly<Record<string, string>> = {
  Fragment: "片段",
  "Stands for the nodes of a fragment.": "代表一个片段的各个节点。",
  Input: "输入",
  "Where records enter the fragment.": "记录进入片段之处。",
  Output: "输出",
  "Where records leave the fragment.": "记录离开片段之处。",
  Role: "角色",
  "What the input takes.": "输入接受什么。",
  "Empty: any type.": "留空：任意类型。",
  "Empty: any type. A struct may have further fields.": "留空：任意类型。结构可以有更多字段。",
};
