/**
 * Differences from an expected result, by code. Values in braces are facts of the difference, named as in
 * `runtime/millrace_runtime/results/differences.py`.
 */

export const differences: Readonly<Record<string, string>> = {
  not_refused: "预期会被拒绝，但运行了",
  refused_without_message: "被拒绝，但没有说明：{found}",
  failed: "失败：{found}",
  not_stopped: "预期在输入 {after} 之后停止，但继续运行了",
  stopped_elsewhere: "预期在输入 {after} 之后停止，而不是 {found}",
  record_differs: "{topic}[{place}]：预期 {expected}，得到 {found}",
  record_missing: "{topic}[{place}]：预期 {expected}，但没有记录",
  record_unexpected: "{topic}[{place}]：预期没有记录，得到 {found}",
  input_missing: "{topic}，输入 {after}：缺少 {record}",
  input_unexpected: "{topic}，输入 {after}：多出 {record}",
  unexpected: "{topic}：多出 {record}",
  last_differs: "{topic}，键 {key}：预期 {expected}，得到 {found}",
  dropped: "丢弃：预期 {expected}，得到 {found}",
  store_missing: "缺少存储 {store}",
  row_missing: "存储 {store}，键 {key}：缺少",
  row_unexpected: "存储 {store}，键 {key}：多出",
  row_differs: "存储 {store}，键 {key}：预期 {expected}，得到 {found}",
  row_timestamp: "存储 {store}，键 {key}：预期时间戳 {expected}，得到 {found}",
  condition_record: "{topic}[{place}]：预期 {predicate}，得到 {found}",
  condition_row: "存储 {store}，键 {key}：预期 {predicate}，得到 {found}",
  condition_no_record: "{topic}：预期有一条满足 {predicate} 的记录，{count} 条中没有",
  condition_no_row: "存储 {store}：预期有一行满足 {predicate}，{count} 行中没有",
  condition_records: "{topic}，满足 {predicate} 的记录：预期 {expected}，得到 {found}",
  condition_rows: "存储 {store}，满足 {predicate} 的行：预期 {expected}，得到 {found}",
  part_missing: "缺少：{part}",
  part_unexpected: "多出：{part}",
};
