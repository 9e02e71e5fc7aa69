package dev.millrace.server.settings;

import java.util.Arrays;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Settings of PostgreSQL that have no effect here and whose values change no answer there: how its planner guesses, what its processes
 * write into logs, where its files lie. Tools set them; they are kept and shown, as are names with a dot, which programs give to settings
 * of their own. So are {@link RisingWaveSettings}, with a notice. All are in lower case. Stateless.
 */
public final class PassiveSettings {
    /** What is said of each. */
    public static final String MEANING = "accepted for the sake of tools; has no effect";

    private static final Map<String, String> DEFAULTS;

    static {
        Map<String, String> defaults = new TreeMap<>();
        """
        allow_system_table_mods=off backend_flush_after=0 backslash_quote=safe_encoding check_function_bodies=on
        client_connection_check_interval=0 commit_delay=0 commit_siblings=5 constraint_exclusion=partition
        cpu_index_tuple_cost=0.005 cpu_operator_cost=0.0025 cpu_tuple_cost=0.01 cursor_tuple_fraction=0.1 deadlock_timeout=1s
        debug_pretty_print=on debug_print_parse=off debug_print_plan=off debug_print_rewritten=off
        default_statistics_target=100 default_table_access_method=heap default_tablespace=
        default_text_search_config=pg_catalog.simple default_toast_compression=pglz effective_cache_size=4GB
        effective_io_concurrency=1 enable_async_append=on enable_bitmapscan=on enable_gathermerge=on enable_hashagg=on
        enable_hashjoin=on enable_incremental_sort=on enable_indexonlyscan=on enable_indexscan=on enable_material=on
        enable_memoize=on enable_mergejoin=on enable_nestloop=on enable_parallel_append=on enable_parallel_hash=on
        enable_partition_pruning=on enable_partitionwise_aggregate=off enable_partitionwise_join=off enable_seqscan=on
        enable_sort=on enable_tidscan=on escape_string_warning=on exit_on_error=off force_parallel_mode=off
        from_collapse_limit=8 geqo=on geqo_effort=5 geqo_generations=0 geqo_pool_size=0 geqo_seed=0 geqo_selection_bias=2
        geqo_threshold=12 gin_fuzzy_search_limit=0 gin_pending_list_limit=4MB hash_mem_multiplier=2 jit=on
        jit_above_cost=100000 jit_inline_above_cost=500000 jit_optimize_above_cost=500000 join_collapse_limit=8 lc_messages=C
        lc_monetary=C lc_numeric=C lc_time=C lo_compat_privileges=off log_duration=off log_error_verbosity=default
        log_executor_stats=off log_lock_waits=off log_min_duration_sample=-1 log_min_duration_statement=-1
        log_min_error_statement=error log_min_messages=warning log_parser_stats=off log_planner_stats=off
        log_replication_commands=off log_statement=none log_statement_sample_rate=1 log_statement_stats=off
        log_temp_files=-1 logical_decoding_work_mem=64MB maintenance_io_concurrency=10 maintenance_work_mem=64MB
        max_parallel_maintenance_workers=2 max_parallel_workers=8 max_parallel_workers_per_gather=2 max_stack_depth=2MB
        min_parallel_index_scan_size=512kB min_parallel_table_scan_size=8MB parallel_leader_participation=on
        parallel_setup_cost=1000 parallel_tuple_cost=0.1 plan_cache_mode=auto quote_all_identifiers=off random_page_cost=4
        recursive_worktable_factor=10 seq_page_cost=1 session_replication_role=origin stats_fetch_consistency=cache
        synchronize_seqscans=on tcp_keepalives_count=0 tcp_keepalives_idle=0 tcp_keepalives_interval=0 tcp_user_timeout=0
        temp_buffers=8MB temp_file_limit=-1 temp_tablespaces= timezone_abbreviations=Default trace_notify=off trace_sort=off
        track_activities=on track_counts=on track_functions=none track_io_timing=off track_wal_io_timing=off
        update_process_title=on vacuum_cost_delay=0 vacuum_cost_limit=200 vacuum_cost_page_dirty=20 vacuum_cost_page_hit=1
        vacuum_cost_page_miss=2 vacuum_freeze_min_age=50000000 vacuum_freeze_table_age=150000000 wal_compression=off
        wal_skip_threshold=2MB wal_sender_timeout=60000 work_mem=4MB xmlbinary=base64 xmloption=content
        zero_damaged_pages=off
        """.strip().lines().flatMap(line -> Arrays.stream(line.strip().split(" "))).forEach(
                entry -> defaults.put(entry.substring(0, entry.indexOf('=')), entry.substring(entry.indexOf('=') + 1)));
        DEFAULTS = Collections.unmodifiableMap(defaults);
    }

    private PassiveSettings() {}

    /** Those of PostgreSQL with what they are unless they are set, by name. */
    public static Map<String, String> defaults() {
        return DEFAULTS;
    }

    /** Whether a name, in any case, is one of these or of {@link RisingWaveSettings}, or one that a program made up. */
    public static boolean isPassive(String name) {
        return DEFAULTS.containsKey(name.toLowerCase(Locale.ROOT))
                || name.indexOf('.') > 0
                || RisingWaveSettings.known(name).isPresent();
    }

    /** What is told to who sets one that others have set for a reason. */
    public static Optional<String> notice(String name) {
        return RisingWaveSettings.meaningOf(name)
                .map(meaning -> "setting \"" + name + "\" has no effect here: " + meaning);
    }

    /** The name under which a setting is kept. */
    static String key(String name) {
        return RisingWaveSettings.known(name).orElse(name.toLowerCase(Locale.ROOT));
    }

    /** What it is unless it is set, by its key; none for one that a program made up. */
    static Optional<String> defaultOf(String key) {
        return Optional.ofNullable(DEFAULTS.get(key)).or(() -> RisingWaveSettings.defaultOf(key));
    }
}
