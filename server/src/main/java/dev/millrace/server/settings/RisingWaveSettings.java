package dev.millrace.server.settings;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Settings of RisingWave that say how it does what it does: how far a query is spread, which plan it has, what it caches. There is nothing
 * to set of them here, they change no answer, and scripts set them in every other line; so they are kept and shown, and a notice says what
 * holds instead. What changes answers there ({@code upsert_dml}, {@code batch_expr_strict_mode}, {@code query_epoch}) is not among them, and
 * unknown. Names are in lower case, without {@code rw_}, which may be before each. Stateless.
 *
 * <p>Names and defaults are those of the manual of RisingWave 2, "View and configure runtime parameters".
 */
final class RisingWaveSettings {
    private static final String ALIAS = "rw_";

    private static final Map<String, String> DEFAULTS;
    private static final Map<String, String> MEANINGS;

    static {
        Map<String, String> groups = new LinkedHashMap<>(); // what holds here, and the settings that would say it there
        groups.put("each query is spread over all workers of the server", """
                streaming_parallelism=default streaming_parallelism_for_backfill=default
                streaming_parallelism_for_table=default streaming_parallelism_for_sink=default
                streaming_parallelism_for_index=default streaming_parallelism_for_source=default
                streaming_parallelism_for_materialized_view=default streaming_max_parallelism=256
                batch_parallelism=default query_mode=auto batch_enable_distributed_dml=false""");
        groups.put("a session reads what it wrote unless read_your_writes is off, and FLUSH waits for all", """
                implicit_flush=false""");
        groups.put(
                "INSERT is answered when its rows are on disk, if there is a data directory; synchronous_commit says otherwise",
                """
                dml_wait_persistence=false""");
        groups.put("SELECT reads the newest epoch", "visibility_mode=default");
        groups.put("the planner chooses by the sizes of relations", """
                streaming_enable_delta_join=false streaming_enable_bushy_join=true
                streaming_force_filter_inside_join=false streaming_separate_consecutive_join=false
                enable_join_ordering=true enable_two_phase_agg=true force_two_phase_agg=false enable_share_plan=true
                force_split_distinct_agg=false batch_enable_lookup_join=true batch_enable_sort_agg=true
                max_split_range_gap=8 enable_index_selection=true enable_mv_selection=false
                enable_datafusion_engine=true datafusion_prefer_hash_join=true""");
        groups.put("rows of any type are keys of state", "streaming_allow_jsonb_in_stream_key=false");
        groups.put("state is in memory, and on disk when there is more of it", """
                streaming_join_encoding= streaming_over_window_cache_policy= streaming_cache_refill_policy=
                streaming_asof_join_use_cache=true""");
        groups.put(
                "a query with state is filled before CREATE is answered, or reads its past while rows come (start)",
                """
                background_ddl=false streaming_use_arrangement_backfill=true streaming_use_snapshot_backfill=true
                enable_serverless_backfill=false enable_locality_backfill=true slow_ddl_notification_secs=30""");
        groups.put("rows are taken as fast as they are computed", """
                backfill_rate_limit=default source_rate_limit=default sink_rate_limit=default
                dml_rate_limit=default""");
        groups.put("SHOW CREATE has the statement as it was written", "disable_purify_definition=false");
        groups.put("what an expression gives that is not always the same is kept with the row", """
                streaming_unsafe_allow_unmaterialized_impure_expr=false""");
        groups.put("sinks have threads of their own, and what streams read is shared", """
                sink_decouple=default streaming_separate_sink=false streaming_use_shared_source=true
                streaming_enable_unaligned_join=false streaming_sync_log_store_pause_duration_ms=
                streaming_sync_log_store_buffer_size=""");
        Map<String, String> defaults = new TreeMap<>();
        Map<String, String> meanings = new TreeMap<>();
        groups.forEach((meaning, entries) -> {
            for (String entry : entries.strip().split("\\s+")) {
                int equals = entry.indexOf('=');
                defaults.put(entry.substring(0, equals), entry.substring(equals + 1));
                meanings.put(entry.substring(0, equals), meaning);
            }
        });
        DEFAULTS = Collections.unmodifiableMap(defaults);
        MEANINGS = Collections.unmodifiableMap(meanings);
    }

    private RisingWaveSettings() {}

    /** The name under which a setting is known, if it is one of these. */
    static Optional<String> known(String name) {
        String folded = name.toLowerCase(Locale.ROOT);
        String bare = folded.startsWith(ALIAS) ? folded.substring(ALIAS.length()) : folded;
        return Optional.of(bare).filter(DEFAULTS::containsKey);
    }

    /** What it is unless it is set. */
    static Optional<String> defaultOf(String known) {
        return Optional.ofNullable(DEFAULTS.get(known));
    }

    /** What holds here instead. */
    static Optional<String> meaningOf(String name) {
        return known(name).map(MEANINGS::get);
    }
}
