//! Helpers for the parts of the day: create, bind, patch and await pods.

use std::{fmt::Debug, future::Future, time::Duration};

use anyhow::{bail, Context, Result};
use k8s_openapi::api::{apps::v1::Deployment, coordination::v1::Lease, core::v1::Pod};
use kube::{
    api::{Api, Patch, PatchParams, PostParams},
    core::Status,
    runtime::wait::{await_condition, conditions},
    Client, Config, ResourceExt,
};
use serde_json::{from_value, json, Value};

pub const NO_PATCH: PatchParams =
    PatchParams { dry_run: false, force: false, field_manager: None, field_validation: None };

pub struct Day {
    pub ns: String,
    pub client: Client,
    pub pods: Api<Pod>,
    pub leases: Api<Lease>,
    pub deployments: Api<Deployment>,
}

pub fn names<K: ResourceExt>(list: &[K]) -> Vec<String> {
    list.iter().map(|object| object.name_any()).collect()
}

/// Polls until `holds` returns true.
pub async fn eventually<F, T>(what: &str, holds: F) -> Result<()>
where
    F: Fn() -> T,
    T: Future<Output = Result<bool>>,
{
    tokio::time::timeout(Duration::from_secs(30), async {
        while !holds().await? {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    })
    .await
    .with_context(|| format!("timed out: {what}"))?
}

/// Returns a pod whose scheduler does not exist: it stays pending until bind().
pub fn new_pod(name: &str, labels: Value) -> Result<Pod> {
    Ok(from_value(json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "schedulerName": "nobody",
            "containers": [{"name": "main", "image": "nginx:1"}],
        },
    }))?)
}

impl Day {
    /// Connects to the cluster of the current kubeconfig.
    pub async fn new(ns: String) -> Result<Self> {
        let mut config = Config::infer().await?;
        // Don't retry a 429: the transcript shows evictions that a budget forbids.
        config.default_retry = false;
        let client = Client::try_from(config)?;
        Ok(Day {
            pods: Api::namespaced(client.clone(), &ns),
            leases: Api::namespaced(client.clone(), &ns),
            deployments: Api::namespaced(client.clone(), &ns),
            client,
            ns,
        })
    }

    pub fn refused<T: Debug>(&self, what: &str, answer: kube::Result<T>) -> Result<()> {
        let status = match answer {
            Err(kube::Error::Api(status)) => status,
            Err(error) => return Err(error.into()),
            Ok(answer) => bail!("{what} is accepted: {answer:?}"),
        };
        let is_uid = |word: &&str| word.len() >= 36 && word.matches('-').count() == 4;
        let message = status.message.lines().next().unwrap_or_default().replace(&self.ns, "NS");
        let message: Vec<_> = message
            .split(' ')
            .map(|word| Some(word).filter(|word| !is_uid(word)).unwrap_or("UID"))
            .collect();
        println!("{what}: {} {}: {}", status.code, status.reason, message.join(" "));
        for cause in status.details.map(|d| d.causes).unwrap_or_default() {
            let about = [&cause.field, &cause.message][cause.field.is_empty() as usize];
            println!("  {}: {about}", cause.reason);
        }
        Ok(())
    }

    pub async fn create_pod(&self, name: &str, labels: Value) -> Result<Pod> {
        let pod = new_pod(name, labels)?;
        Ok(self.pods.create(&PostParams::default(), &pod).await?)
    }

    pub async fn merge(&self, name: &str, patch: Value) -> kube::Result<Pod> {
        self.pods.patch(name, &NO_PATCH, &Patch::Merge(patch)).await
    }

    pub async fn bind(&self, name: &str, node: &str) -> kube::Result<Status> {
        let binding = json!({
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        });
        let post = PostParams::default();
        self.pods.create_subresource("binding", name, &post, &binding).await
    }

    pub async fn runs(&self, name: &str) -> Result<()> {
        let runs = await_condition(self.pods.clone(), name, conditions::is_pod_running());
        tokio::time::timeout(Duration::from_secs(30), runs).await??;
        Ok(())
    }

    pub async fn run_pod(&self, name: &str, labels: Value) -> Result<()> {
        self.create_pod(name, labels).await?;
        self.bind(name, "node-1").await?;
        self.runs(name).await
    }

    pub async fn goes(&self, name: &str) -> Result<()> {
        eventually(name, || async { Ok(self.pods.get_opt(name).await?.is_none()) }).await
    }
}
