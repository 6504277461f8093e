//! Leases, and leader election with a lease.

use anyhow::{Context, Result};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::{
    api::{DeleteParams, PostParams},
    ResourceExt,
};
use serde_json::{from_value, json};

use crate::support::{eventually, Day};

impl Day {
    /// Takes or renews a lease. The server rejects an old version of the lease.
    async fn hold(&self, lease: &Lease, who: &str, at: Timestamp) -> kube::Result<Lease> {
        let mut lease = lease.clone();
        let spec = lease.spec.get_or_insert_default();
        spec.holder_identity = Some(who.into());
        spec.lease_duration_seconds = Some(2);
        spec.renew_time = Some(MicroTime(at));
        let post = PostParams::default();
        match &lease.metadata.resource_version {
            Some(_) => self.leases.replace(&lease.name_any(), &post, &lease).await,
            None => self.leases.create(&post, &lease).await,
        }
    }

    pub async fn leases(&self) -> Result<()> {
        let now = Timestamp::from_microsecond(Timestamp::now().as_microsecond())?;
        let new = from_value(json!({"metadata": {"name": "beat"}}))?;
        let lease = self.hold(&new, "me", now).await?;
        let spec = lease.spec.clone().context("no spec")?;
        println!("lease: {:?} {}", spec.holder_identity, spec.renew_time == Some(MicroTime(now)));
        let renewed = self.hold(&lease, "me", now + SignedDuration::from_micros(5_000_001)).await?;
        let renewed_at = renewed.spec.and_then(|spec| spec.renew_time).context("no time")?;
        println!("renewed: {:?}", renewed_at.0.duration_since(now));
        self.refused("stale renewal", self.hold(&lease, "me", now).await)?;
        self.leases.delete("beat", &DeleteParams::default()).await?;
        self.refused("lease", self.leases.get("beat").await)
    }

    /// Elects a leader with a lease, because kube-rs has no leader election. The crates
    /// that have one need an older kube-rs or server-side apply.
    pub async fn leader_election(&self) -> Result<()> {
        let is_free = |lease: &Lease| {
            let spec = lease.spec.clone().unwrap_or_default();
            let until = spec
                .renew_time
                .zip(spec.lease_duration_seconds)
                .map(|(at, seconds)| at.0 + SignedDuration::from_secs(seconds.into()));
            spec.holder_identity.is_none() || until < Some(Timestamp::now())
        };
        let holder = |lease: &Lease| lease.spec.clone().and_then(|spec| spec.holder_identity);
        let new: Lease = from_value(json!({"metadata": {"name": "leader"}}))?;
        let first = self.hold(&new, "a", Timestamp::now()).await?;
        println!("a leads: {:?}", holder(&first));
        self.refused("b creates too", self.hold(&new, "b", Timestamp::now()).await)?;
        println!("b may take over: {}", is_free(&self.leases.get("leader").await?));
        eventually("a's lease runs out", || async {
            Ok(is_free(&self.leases.get("leader").await?))
        })
        .await?;
        let second = self.hold(&first, "b", Timestamp::now()).await?;
        println!("b leads: {:?}", holder(&second));
        self.refused("a renews", self.hold(&first, "a", Timestamp::now()).await)?;
        let mut released = second;
        released.spec = None;
        let released = self.leases.replace("leader", &PostParams::default(), &released).await?;
        println!("b released it: {}", is_free(&released));
        Ok(())
    }
}
