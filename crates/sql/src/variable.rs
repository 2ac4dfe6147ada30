//! System variables: which of them a read may ask any node for.
//!
//! A session's own variables are the same on every connection of the session, because the proxy brings each connection
//! to the session's state. Variables that say which server this is may be asked anywhere: that is what they are for. All
//! others, and all that are not known, are asked of the primary: an application that sees `@@read_only` of a replica
//! concludes that it cannot write here.

use crate::effects::Effects;
use crate::lexer::Lexer;
use crate::reason::Reason;
use crate::scan::Scan;
use crate::schema::inside_quotes;
use crate::token::{Tok, Token};
use crate::words::{self, Kw};

/// What reading one variable asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Replica,
    Primary,
    Previous,
    LastInsertId,
    ConnectionId,
}

/// The scope written before a variable's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    None,
    Session,
    Global,
    Persist,
    /// Something else before the point: a structured variable such as a key cache's.
    Structured,
}

/// `@@[scope.]name` without the `@@`.
pub(crate) struct Name<'a> {
    pub(crate) scope: Scope,
    pub(crate) name: &'a [u8],
}

/// Takes the name behind `@@`, and says what reading it asks for.
pub(crate) fn read(lexer: &mut Lexer<'_>) -> Read {
    match name(lexer) {
        Some(Name { scope: Scope::None | Scope::Session, name }) => by_name(name),
        _ => Read::Primary,
    }
}

/// Takes the name behind `@@`.
pub(crate) fn name<'a>(lexer: &mut Lexer<'a>) -> Option<Name<'a>> {
    let first = part(lexer)?;
    if lexer.peek().kind != Tok::Dot {
        return Some(Name { scope: Scope::None, name: inside_quotes(first.bytes(lexer.sql)) });
    }
    lexer.next();
    let second = part(lexer)?;
    let scope = scope_of(first, lexer.sql);
    Some(Name { scope, name: inside_quotes(second.bytes(lexer.sql)) })
}

fn part(lexer: &mut Lexer<'_>) -> Option<Token> {
    let next = lexer.peek();
    matches!(next.kind, Tok::Word | Tok::Quoted).then(|| lexer.next())
}

/// The scope a word means.
pub(crate) fn scope_of(word: Token, sql: &[u8]) -> Scope {
    if word.kind != Tok::Word {
        return Scope::Structured;
    }
    match words::lookup(word.bytes(sql)).kw {
        Kw::Session | Kw::Local => Scope::Session,
        Kw::Global => Scope::Global,
        Kw::Persist | Kw::PersistOnly => Scope::Persist,
        _ => Scope::Structured,
    }
}

/// A variable's name in small letters; longer ones than any variable's are none.
fn with_lower<T>(name: &[u8], f: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let mut lower = [0u8; 64];
    let slot = lower.get_mut(..name.len())?;
    slot.copy_from_slice(name);
    slot.make_ascii_lowercase();
    Some(f(slot))
}

fn is_in_list(lower: &[u8]) -> bool {
    SESSION.binary_search_by(|v| v.as_bytes().cmp(lower)).is_ok()
}

/// Whether it is known as a variable of a session.
pub(crate) fn is_of_session(name: &[u8]) -> bool {
    with_lower(name, is_in_list).unwrap_or(false)
}

fn by_name(name: &[u8]) -> Read {
    let read = with_lower(name, |lower| match lower {
        b"last_insert_id" | b"identity" => Read::LastInsertId,
        b"warning_count" | b"error_count" => Read::Previous,
        b"pseudo_thread_id" => Read::ConnectionId,
        b"server_id" | b"server_uuid" | b"hostname" | b"port" => Read::Replica,
        name if is_in_list(name) => Read::Replica,
        _ => Read::Primary,
    });
    read.unwrap_or(Read::Primary)
}

impl Scan<'_, '_> {
    pub(crate) fn user_variable(&mut self) {
        let assigned = self.lexer.peek().kind == Tok::Assign;
        if assigned || self.into {
            self.effects |= Effects::SETS_USER_VARIABLE;
            self.primary(Reason::UserVariable);
        } else {
            self.effects |= Effects::READS_USER_VARIABLE;
        }
    }

    /// Takes the name behind `@@`.
    pub(crate) fn system_variable(&mut self) {
        match read(self.lexer) {
            Read::Replica => {}
            Read::Previous => self.previous(),
            Read::LastInsertId => {
                self.effects |= Effects::USES_LAST_INSERT_ID;
                self.primary(Reason::LastInsertId);
            }
            Read::ConnectionId => self.primary(Reason::ConnectionId),
            Read::Primary => self.primary(Reason::GlobalVariable),
        }
    }
}

/// Variables with a session scope (MySQL 9.7 and MariaDB 10.11, asked of the servers), without those about GTIDs, the
/// binary log, replication, the current transaction and the connection itself. In order, for the search.
const SESSION: &[&str] = &[
    "alter_algorithm",
    "analyze_max_length",
    "analyze_sample_percentage",
    "aria_repair_threads",
    "aria_sort_buffer_size",
    "aria_stats_method",
    "auto_increment_increment",
    "auto_increment_offset",
    "autocommit",
    "big_tables",
    "block_encryption_mode",
    "bulk_insert_buffer_size",
    "character_set_client",
    "character_set_collations",
    "character_set_connection",
    "character_set_database",
    "character_set_filesystem",
    "character_set_results",
    "character_set_server",
    "check_constraint_checks",
    "collation_connection",
    "collation_database",
    "collation_server",
    "column_compression_threshold",
    "column_compression_zlib_level",
    "column_compression_zlib_strategy",
    "column_compression_zlib_wrap",
    "completion_type",
    "connection_memory_chunk_size",
    "connection_memory_limit",
    "cte_max_recursion_depth",
    "deadlock_search_depth_long",
    "deadlock_search_depth_short",
    "deadlock_timeout_long",
    "deadlock_timeout_short",
    "default_collation_for_utf8mb4",
    "default_regex_flags",
    "default_storage_engine",
    "default_table_encryption",
    "default_tmp_storage_engine",
    "default_week_format",
    "div_precision_increment",
    "enable_cascade_triggers",
    "enable_secondary_engine_statistics",
    "end_markers_in_json",
    "enforce_storage_engine",
    "eq_range_index_dive_limit",
    "expensive_subquery_limit",
    "explain_format",
    "explain_json_format_version",
    "explicit_defaults_for_timestamp",
    "external_table_secondary_storage_engine",
    "external_table_storage_engine",
    "foreign_key_checks",
    "generated_random_password_length",
    "group_concat_max_len",
    "histogram_generation_max_mem_size",
    "histogram_size",
    "histogram_type",
    "idle_readonly_transaction_timeout",
    "idle_transaction_timeout",
    "idle_write_transaction_timeout",
    "in_predicate_conversion_threshold",
    "information_schema_stats_expiry",
    "innodb_compression_default",
    "innodb_ddl_buffer_size",
    "innodb_ddl_threads",
    "innodb_default_encryption_key_id",
    "innodb_ft_enable_stopword",
    "innodb_ft_user_stopword_table",
    "innodb_lock_wait_timeout",
    "innodb_parallel_read_threads",
    "innodb_snapshot_isolation",
    "innodb_strict_mode",
    "innodb_table_locks",
    "innodb_tmpdir",
    "interactive_timeout",
    "internal_tmp_mem_storage_engine",
    "join_buffer_size",
    "join_buffer_space_limit",
    "join_cache_level",
    "keep_files_on_create",
    "lc_messages",
    "lc_time_names",
    "lock_wait_timeout",
    "log_slow_admin_statements",
    "log_slow_disabled_statements",
    "log_slow_filter",
    "log_slow_max_warnings",
    "log_slow_min_examined_row_limit",
    "log_slow_query",
    "log_slow_query_time",
    "log_slow_rate_limit",
    "log_slow_verbosity",
    "log_warnings",
    "long_query_time",
    "low_priority_updates",
    "max_allowed_packet",
    "max_delayed_threads",
    "max_error_count",
    "max_execution_time",
    "max_heap_table_size",
    "max_insert_delayed_threads",
    "max_join_size",
    "max_length_for_sort_data",
    "max_points_in_geometry",
    "max_recursive_iterations",
    "max_rowid_filter_size",
    "max_seeks_for_key",
    "max_session_mem_used",
    "max_sort_length",
    "max_sp_recursion_depth",
    "max_statement_time",
    "max_tmp_session_space_usage",
    "max_tmp_tables",
    "mhnsw_default_distance",
    "mhnsw_default_m",
    "mhnsw_ef_search",
    "min_examined_row_limit",
    "mrr_buffer_size",
    "myisam_repair_threads",
    "myisam_sort_buffer_size",
    "myisam_stats_method",
    "net_buffer_length",
    "net_read_timeout",
    "net_retry_count",
    "net_write_timeout",
    "note_verbosity",
    "old",
    "old_alter_table",
    "old_mode",
    "old_passwords",
    "optimizer_adjust_secondary_key_costs",
    "optimizer_disk_setup_cost",
    "optimizer_extra_pruning_depth",
    "optimizer_join_limit_pref_ratio",
    "optimizer_max_sel_arg_weight",
    "optimizer_max_sel_args",
    "optimizer_max_subgraph_pairs",
    "optimizer_prune_level",
    "optimizer_scan_setup_cost",
    "optimizer_search_depth",
    "optimizer_selectivity_sampling_limit",
    "optimizer_switch",
    "optimizer_trace_features",
    "optimizer_trace_limit",
    "optimizer_trace_max_mem_size",
    "optimizer_trace_offset",
    "optimizer_use_condition_selectivity",
    "optimizer_where_cost",
    "parser_max_mem_size",
    "preload_buffer_size",
    "print_identified_with_as_hex",
    "profiling",
    "profiling_history_size",
    "progress_report_time",
    "query_alloc_block_size",
    "query_cache_strip_comments",
    "query_cache_type",
    "query_cache_wlock_invalidate",
    "query_prealloc_size",
    "range_alloc_block_size",
    "range_optimizer_max_mem_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "redirect_url",
    "restrict_fk_on_non_standard_key",
    "resultset_metadata",
    "rowid_merge_buff_size",
    "secondary_engine_cost_threshold",
    "select_into_buffer_size",
    "select_into_disk_sync",
    "select_into_disk_sync_delay",
    "set_operations_buffer_size",
    "show_create_table_skip_secondary_engine",
    "show_create_table_verbosity",
    "show_gipk_in_create_table_and_information_schema",
    "sort_buffer_size",
    "sql_auto_is_null",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_generate_invisible_primary_key",
    "sql_if_exists",
    "sql_log_off",
    "sql_mode",
    "sql_notes",
    "sql_quote_show_create",
    "sql_require_primary_key",
    "sql_safe_updates",
    "sql_select_limit",
    "sql_warnings",
    "standard_compliant_cte",
    "storage_engine",
    "system_versioning_alter_history",
    "system_versioning_asof",
    "system_versioning_insert_history",
    "tcp_nodelay",
    "terminology_use_previous",
    "thread_pool_priority",
    "time_zone",
    "timestamp",
    "tmp_disk_table_size",
    "tmp_memory_table_size",
    "tmp_table_size",
    "transaction_alloc_block_size",
    "transaction_allow_batching",
    "transaction_isolation",
    "transaction_prealloc_size",
    "tx_isolation",
    "unique_checks",
    "updatable_views_with_limit",
    "use_invisible_indexes",
    "use_secondary_engine",
    "use_stat_tables",
    "wait_timeout",
    "windowing_use_high_precision",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order() {
        assert!(SESSION.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn by_name_in_any_case() {
        assert_eq!(by_name(b"SQL_Mode"), Read::Replica);
        assert_eq!(by_name(b"time_zone"), Read::Replica);
        assert_eq!(by_name(b"hostname"), Read::Replica);
        assert_eq!(by_name(b"read_only"), Read::Primary);
        assert_eq!(by_name(b"transaction_read_only"), Read::Primary);
        assert_eq!(by_name(b"gtid_executed"), Read::Primary);
        assert_eq!(by_name(b"IDENTITY"), Read::LastInsertId);
        assert_eq!(by_name(b"warning_count"), Read::Previous);
        assert_eq!(by_name(&[b'a'; 100]), Read::Primary);
    }
}
