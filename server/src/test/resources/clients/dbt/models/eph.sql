{{ config(materialized='ephemeral') }}
select * from {{ ref('customers') }} where total > 15
